/**
 * Names the turn of a run, a number of commits: `npm test` sets it. A run without it, as of one
 * file or of the proof, takes everything.
 */
const TURN = 'CONCLAVE_TURN';

function currentTurn(): number | null {
  const text = process.env[TURN];
  return text === undefined || !/^[0-9]{1,9}$/.test(text) ? null : Number.parseInt(text, 10);
}

/**
 * The cases of an exhaustive loop whose turn it is: one of so many parts at each commit. For loops
 * in which a fault may be found some commits late; attacks and the rows of the spec are tested at
 * every commit.
 */
export function inTurn<T>(cases: readonly T[], parts: number): readonly T[] {
  const turn = currentTurn();
  return turn === null ? cases : cases.filter((_, i) => i % parts === turn % parts);
}

/**
 * Of these groups `npm test` takes one at each commit. Their files cost four seconds of CPU and
 * more, and find faults of rare moments; each group costs about 40.
 */
const FILES_BY_TURNS: readonly (readonly string[])[] = [
  ['test/cosigner/key/refresh.test.ts', 'test/e2e/faulty-monitor.test.ts'],
  [
    'test/cosigner/key/identity-rotation.test.ts',
    'test/browser/guard.test.ts',
    'test/e2e/bitcoin/child-pays-for-parent.test.ts',
  ],
  [
    'test/cosigner/key/pairing-cut-off.test.ts',
    'test/e2e/operations/duplicate-delivery.test.ts',
    'test/e2e/bitcoin/flow.test.ts',
    'test/e2e/operations/recovery.test.ts',
  ],
  [
    'test/e2e/operations/restore-drill.test.ts',
    'test/e2e/evm/wallet-nonce.test.ts',
    'test/e2e/bitcoin/segwit.test.ts',
    'test/e2e/evm/balances.test.ts',
  ],
  [
    'test/e2e/operations/crash.test.ts',
    'test/e2e/funds-in-flight.test.ts',
    'test/e2e/operations/refresh.test.ts',
    'test/e2e/evm/private-mempool.test.ts',
    'test/browser/statements.test.ts',
  ],
  [
    'test/e2e/operations/remote-cosigners.test.ts',
    'test/e2e/evm/missing-history.test.ts',
    'test/cosigner/signing/five-cosigners.test.ts',
    'test/e2e/evm/repricing.test.ts',
    'test/e2e/bitcoin/utxos.test.ts',
    'test/e2e/evm/replace.test.ts',
    'test/browser/credential-resets.test.ts',
  ],
];

/** The files that another commit takes. */
export function filesOutOfTurn(): readonly string[] {
  const chosen = inTurn(FILES_BY_TURNS, FILES_BY_TURNS.length);
  return FILES_BY_TURNS.filter((group) => !chosen.includes(group)).flat();
}

/** One of several equal parts: `2/19` is the third of nineteen. */
export interface Turn {
  readonly part: number;
  readonly parts: number;
}

/** Reads `K/N` with K from 0 up to N - 1. Throws for anything else. */
export function parseTurn(text: string): Turn {
  const [, part = '', parts = ''] = /^([0-9]{1,6})\/([1-9][0-9]{0,5})$/.exec(text) ?? [];
  const turn = { part: Number.parseInt(part, 10), parts: Number.parseInt(parts, 10) };
  if (part === '' || turn.part >= turn.parts) throw new Error(`not a part of a whole, such as 2/19: ${text}`);
  return turn;
}

/**
 * Where a part of so many neighbours begins and ends: from the first, up to the second and without
 * it.
 */
export function rangeOf({ part, parts }: Turn, count: number): readonly [from: number, to: number] {
  return [Math.floor((part * count) / parts), Math.floor(((part + 1) * count) / parts)];
}
