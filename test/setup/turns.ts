/**
 * The turn of a run: `npm test` sets it to the number of commits. A run without it, as of one file
 * or of the proof, runs all cases.
 */
const TURN = 'CONCLAVE_TURN';

function currentTurn(): number | null {
  const text = process.env[TURN];
  return text === undefined || !/^[0-9]{1,9}$/.test(text) ? null : Number.parseInt(text, 10);
}

/**
 * Returns the cases of an exhaustive loop for this turn: one of `parts` equal parts, another one at
 * each commit. It is for loops in which a fault may be found some commits late. Attack tests and
 * tests of the specification run in full at every commit.
 */
export function inTurn<T>(cases: readonly T[], parts: number): readonly T[] {
  const turn = currentTurn();
  return turn === null ? cases : cases.filter((_, i) => i % parts === turn % parts);
}

/**
 * Groups of test files of which `npm test` runs one at each commit. These files cost four seconds
 * of CPU or more and find rare faults. Each group costs about 40 seconds.
 */
const FILES_BY_TURNS: readonly (readonly string[])[] = [
  [
    'test/cosigner/key/refresh.test.ts',
    'test/e2e/faulty-monitor.test.ts',
    'test/e2e/operations/stopped-wallet.test.ts',
  ],
  [
    'test/cosigner/key/identity-rotation.test.ts',
    'test/cosigner/policy/many-policies.test.ts',
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
    'test/browser/members/credential-resets.test.ts',
  ],
  ['test/e2e/operations/incidents.test.ts'],
];

/** Returns the files that this turn leaves to other commits. */
export function filesOutOfTurn(): readonly string[] {
  const chosen = inTurn(FILES_BY_TURNS, FILES_BY_TURNS.length);
  return FILES_BY_TURNS.filter((group) => !chosen.includes(group)).flat();
}

/** One of several equal parts: `2/19` is the third of nineteen. */
export interface Turn {
  readonly part: number;
  readonly parts: number;
}

/** Parses `K/N` with K from 0 to N - 1. Throws for any other text. */
export function parseTurn(text: string): Turn {
  const [, part = '', parts = ''] = /^([0-9]{1,6})\/([1-9][0-9]{0,5})$/.exec(text) ?? [];
  const turn = { part: Number.parseInt(part, 10), parts: Number.parseInt(parts, 10) };
  if (part === '' || turn.part >= turn.parts) throw new Error(`not a part of a whole, such as 2/19: ${text}`);
  return turn;
}

/** Returns the begin and the end, exclusive, of a part of `length` neighbours. */
export function rangeOf({ part, parts }: Turn, count: number): readonly [from: number, to: number] {
  return [Math.floor((part * count) / parts), Math.floor(((part + 1) * count) / parts)];
}
