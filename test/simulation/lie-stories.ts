import type { ChainNode } from './chains/chain-node.ts';
import type { SimulatedChain } from './chains/chain.ts';
import type { Lie } from './chains/lies.ts';
import { LIES, SWALLOWED } from './chains/lies.ts';
import { isQuiet, isSettled, judge, judgeCircles, judgeRecords, stateOf, underWay } from './final-checks.ts';
import type { Outcome } from './history.ts';
import { inWorld, keepMining, keepSweeping, letPeopleAct, settledBy } from './history.ts';
import type { PaymentRequest } from './oracle.ts';
import { keepPayingAgain } from './paying-again.ts';
import { approve, create } from './people.ts';
import type { Family, World } from './world.ts';

/**
 * A story in which one RPC node of a chain gives one false answer while payments are in progress,
 * and then becomes honest or is removed from the configuration.
 */
export interface LieStory {
  readonly family: Family;
  readonly lie: Lie;
  readonly nodes: number;
  /** The index of the lying RPC node in the list, counted from 0. */
  readonly liar: number;
  /** The state of the first payment at which the lie begins. */
  readonly since: (typeof STATES)[number];
  readonly end: 'truth' | 'removal';
  /**
   * What the RPC node after the liar does: nothing, leave each third call open, stay behind, or
   * not answer at the beginning of the lie.
   */
  readonly beside: Beside | null;
  /** Whether a person acknowledges each unknown end at once, and pays again. */
  readonly paysAgain: boolean;
}

const BESIDE = ['failing', 'behind'] as const;
type Beside = (typeof BESIDE)[number] | 'silent';

const STATES = ['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING', 'SUCCEEDED'] as const;
export const FAMILIES = ['evm', 'solana', 'bitcoin'] as const;
/** The lies that do not apply to a family. */
const UNKNOWN_TO: Readonly<Record<(typeof FAMILIES)[number], readonly Lie[]>> = {
  evm: ['false-nonce', 'false-coin', 'old-list', 'false-account'],
  solana: ['false-coin', 'false-count', 'false-gas', 'old-list'],
  bitcoin: ['false-nonce', 'false-count', 'false-finality', 'false-gas', 'false-account'],
};
const MAX_NODES = 3;
const FALSE_INCLUSIONS: readonly Lie[] = ['false-inclusion', 'far-inclusion', 'flickering'];
/** The lies about what became of a transaction, or of what it spends. */
const UNSHOWING: readonly Lie[] = [
  'false-inclusion',
  'false-nonce',
  'false-coin',
  'false-count',
  'history-lost',
  'unrelayed',
];
/** The lies that fail no payment while another RPC node is right. */
const HARMLESS: readonly Lie[] = ['false-contents', 'false-gas', 'old-list', 'false-account', 'unrelayed'];
const LIE_MS = 3 * 60_000;
/**
 * The time in which two records become `NOT_SHOWN` in turn: a payment, and its cancellation.
 */
const SWALLOWED_MS = 150 * 60_000;
/**
 * The time for which a silent RPC node does not answer at the beginning of a lie: half of what a
 * blockhash of Solana lives, because one RPC node can delay the attempt after it.
 */
const SILENCE_MS = 30_000;
/**
 * The maximum number of times that a transaction may return to a state and reason during the lie:
 * its record follows an RPC node that changes its answer every 15 seconds at most.
 */
const MAX_RETURNS = 12;
/** The maximum where bytes are sent again for hours, each ten minutes at least. */
const MAX_RETURNS_OF_HOURS = 30;
const RECOVERY_MS = 3 * 60 * 60_000;

/**
 * Returns the stories of every lie on each family, by each RPC node of lists of one to three, from
 * each state of a payment on, and with both ends. Those of a whole payment also have a second RPC
 * node that is not quite well.
 */
export function lieStories(): readonly LieStory[] {
  const waiting = FAMILIES.flatMap((family) =>
    LIES.filter((lie) => !UNKNOWN_TO[family].includes(lie)).flatMap((lie) =>
      Array.from({ length: MAX_NODES }, (_, i) => i + 1).flatMap((nodes) =>
        Array.from({ length: nodes }, (_, liar) => ({ family, lie, nodes, liar })).flatMap(storiesOf),
      ),
    ),
  );
  return [...waiting, ...FAMILIES.flatMap(paidAgain)];
}

/**
 * Returns the stories of a person who acknowledges unknown ends and pays again: each lie of
 * `UNSHOWING` by one of two RPC nodes and by the only one, and hours in which bytes are swallowed.
 */
function paidAgain(family: Family): readonly LieStory[] {
  const terms = { family, since: 'SUBMITTED', end: 'truth', beside: null, paysAgain: true } as const;
  const positions = [
    { nodes: 1, liar: 0 },
    { nodes: 2, liar: 0 },
    { nodes: 2, liar: 1 },
  ] as const;
  const alone = { since: 'BROADCAST', beside: 'silent', end: 'removal' } as const;
  const swallowed = [
    { ...terms, nodes: 1, liar: 0, lie: SWALLOWED },
    { ...terms, ...alone, nodes: 2, liar: 1, lie: SWALLOWED },
  ] as const;
  const short = UNSHOWING.filter((lie) => !UNKNOWN_TO[family].includes(lie)).flatMap((lie) =>
    positions.flatMap((position) => {
      const besides = position.nodes === 1 ? [null] : [null, ...BESIDE];
      return besides.map((beside) => ({ ...terms, ...position, lie, beside }));
    }),
  );
  // The hours of a simulated cluster of Solana take minutes.
  return family === 'solana' ? short : [...short, ...swallowed];
}

function storiesOf(who: Pick<LieStory, 'family' | 'lie' | 'nodes' | 'liar'>): readonly LieStory[] {
  const ends = who.nodes === 1 ? (['truth'] as const) : (['truth', 'removal'] as const);
  const well = STATES.flatMap((since) => ends.map((end) => ({ ...who, since, end, beside: null, paysAgain: false })));
  const besides = who.nodes === 1 ? [] : BESIDE;
  const quiet = { ...who, end: 'truth', paysAgain: false } as const;
  const notWell = besides.map((beside) => ({ ...quiet, since: 'SUBMITTED', beside }) as const);
  if (who.nodes === 1 || who.lie !== 'unrelayed') return [...well, ...notWell];
  // No other RPC node gets the bytes while the one after the liar is silent. On Solana nothing is
  // signed meanwhile, so the silence begins after a signature, too.
  const silent = (['SUBMITTED', 'BROADCAST'] as const).map((since) => {
    return { ...quiet, since, beside: 'silent' } as const;
  });
  return [...well, ...notWell, ...silent];
}

/**
 * The number of payments in a burst: more than a wallet's nonce accounts on Solana (16) and its
 * payments in flight on Bitcoin (25).
 */
const BURST: Readonly<Record<Family, number>> = { evm: 40, solana: 40, bitcoin: 28 };
const FOREIGN_UTXOS = 12;

/**
 * Sends many payments in a row while the second of two RPC nodes does not answer. They must finish
 * only when it answers again, and on Solana they are signed only then.
 */
export function liveBurst(family: Family, count = BURST[family]): Promise<Outcome> {
  return inWorld({ seed: 1, families: [family] }, (world) => playBurst(world, count));
}

async function playBurst(world: World, count: number): Promise<void> {
  const { schedule, oracle } = world;
  const [chain] = world.chains;
  if (chain === undefined) throw new Error('there is a chain');
  await createVault(world, chain);
  // Each payment in flight on Bitcoin needs a UTXO of its own.
  for (let i = 0; i < FOREIGN_UTXOS; i++) chain.deposit(world.wallets.get(chain) ?? '', chain.unit * 10n);
  const [, second] = world.nodes.get(chain) ?? [];
  if (second === undefined) throw new Error('there are two nodes');
  second.lie = 'silence';
  const payments = Array.from({ length: count }, (_, i) =>
    oracle.paymentRequest(chain, chain.recipients[0] ?? '', chain.unit / 10n + BigInt(i)),
  );
  for (const payment of payments) await settledBy(world, paidBy(world, payment));
  // On Solana one RPC node alone signs nothing, because it may invent the nonce accounts.
  const expected = chain.row.family === 'solana' ? 0 : count;
  const sentOut = () => payments.filter((payment) => oracle.paid(payment) === 1).length;
  const isDone = () => expected > 0 && sentOut() === expected;
  await schedule.run(() => isDone() || oracle.faults.length > 0, expected === 0 ? LIE_MS : RECOVERY_MS);
  if (sentOut() !== expected) oracle.fault(`${sentOut()} went out, and ${expected} should have`);
  const hasEnded = payments.some(({ id }) => stateOf(world, id) === 'SUCCEEDED');
  if (hasEnded) oracle.fault('one payment ended by the answer of one RPC node');
  second.recover();
  letPeopleAct(world);
  await schedule.run(() => isSettled(world) || oracle.faults.length > 0, RECOVERY_MS);
  if (!isSettled(world)) oracle.fault(`it never ends: ${underWay(world)}`);
  judge(world);
}

export function nameOf({ family, lie, nodes, liar, since, end, beside, paysAgain }: LieStory): string {
  const other = beside === null ? '' : `, beside one that is ${beside}`;
  const again = paysAgain ? ', and a person pays again' : '';
  return `${family}: ${lie} by node ${liar + 1} of ${nodes} since ${since}${other}, until its ${end}${again}`;
}

/** Runs one story and checks its invariants. */
export function liveStory(story: LieStory, log?: (line: string) => void): Promise<Outcome> {
  const { family, nodes } = story;
  const course = { seed: 1, families: [family], nodes, ...(log === undefined ? {} : { log }) };
  return inWorld(course, (world) => play(story, world));
}

async function play(story: LieStory, world: World): Promise<void> {
  const { schedule, oracle } = world;
  const [chain] = world.chains;
  if (chain === undefined) throw new Error('there is a chain');
  await createVault(world, chain);
  const [liar] = (world.nodes.get(chain) ?? []).slice(story.liar);
  if (liar === undefined) throw new Error('the liar is one of them');
  const besides = neighbourOf(story, world.nodes.get(chain) ?? []);
  if (besides !== null && story.beside === 'failing') besides.failsEach = 3;
  if (besides !== null && story.beside === 'behind') besides.behind = 2;
  const stopPaying = story.paysAgain ? keepPayingAgain(world, chain) : () => {};
  const first = await paymentOn(world, chain, 1n);
  const rank = (state: string | null) => STATES.findIndex((one) => one === state);
  if (story.since !== 'SUBMITTED') {
    const approved = approvedBy(world, first);
    await schedule.run(() => rank(stateOf(world, first.id)) >= rank(story.since), RECOVERY_MS);
    begin(story, liar, chain);
    if (besides !== null && story.beside === 'silent') besides.lie = 'silence';
    await settledBy(world, approved);
  } else {
    begin(story, liar, chain);
    if (besides !== null && story.beside === 'silent') besides.lie = 'silence';
    await settledBy(world, approvedBy(world, first));
  }
  // No payment claims the UTXOs of the first one any more.
  if (story.lie === 'old-list') await schedule.run(() => isQuiet(world), RECOVERY_MS);
  const second = oracle.paymentRequest(chain, chain.recipients[0] ?? '', chain.unit * 2n);
  const paid = paidBy(world, second);
  // A stranger's payment comes in, and a monitor reports it.
  const wallet = world.wallets.get(chain);
  if (wallet !== undefined)
    await settledBy(world, world.report(chain, chain.deposit(wallet, chain.unit * 7n), 'deposit'));
  if (story.beside === 'silent') {
    await schedule.run(() => oracle.faults.length > 0, SILENCE_MS);
    if (story.lie !== SWALLOWED) besides?.recover();
  }
  await schedule.run(() => oracle.faults.length > 0, story.lie === SWALLOWED ? SWALLOWED_MS : LIE_MS);
  stopPaying();
  // Each RPC node gets the bytes, so another one relays what the liar keeps.
  const isRelayed = story.nodes > 1 && story.lie === 'unrelayed' && story.beside !== 'failing';
  for (const payment of isRelayed ? [first, second] : []) {
    if (oracle.paid(payment) !== 1) oracle.fault(`${payment.key} is not paid while one RPC node relays nothing`);
  }
  if (story.nodes > 1) judgeRecords(world);
  await liar.release();
  liar.recover();
  besides?.recover();
  if (story.end === 'removal') world.remove(chain, liar);
  await settledBy(world, paid);
  const third = await paymentOn(world, chain, 3n);
  await settledBy(world, approvedBy(world, third));
  letPeopleAct(world);
  // A record that a person ended is watched, and says later that it was paid after all.
  const isTrue = () => oracle.payments.every((one) => oracle.paid(one) === 0 || stateOf(world, one.id) === 'SUCCEEDED');
  const isOver = () => (story.nodes === 1 ? isQuiet : isSettled)(world) && (!story.paysAgain || isTrue());
  await schedule.run(() => isOver() || oracle.faults.length > 0, RECOVERY_MS);
  if (!isOver()) oracle.fault(`it never ends: ${underWay(world)}`);
  if (story.nodes > 1) judge(world);
  for (const payment of oracle.payments) {
    const state = stateOf(world, payment.id);
    if (state !== 'SUCCEEDED' && oracle.paid(payment) > 0) oracle.fault(`${payment.key} is ${state}, and is paid`);
  }
  const isHarmless = story.nodes > 1 && HARMLESS.includes(story.lie);
  for (const payment of isHarmless ? [first, second] : []) {
    if (oracle.paid(payment) !== 1) oracle.fault(`${payment.key} is not paid, although another RPC node is right`);
  }
  if (oracle.paid(third) !== 1) oracle.fault('the wallet does not pay any more');
  judgeCircles(world, story.lie === SWALLOWED ? MAX_RETURNS_OF_HOURS : MAX_RETURNS);
}

/** Returns the RPC node that is not quite well beside the liar; null when all others are. */
function neighbourOf({ liar, nodes, beside }: LieStory, all: readonly ChainNode[]): ChainNode | null {
  return beside === null ? null : (all[(liar + 1) % nodes] ?? null);
}

/**
 * Makes the RPC node lie from now on. While it reports false inclusions, the network drops the
 * waiting transactions.
 */
function begin({ lie }: LieStory, liar: ChainNode, chain: SimulatedChain): void {
  liar.lie = lie;
  liar.onPassBy = () => {
    if (FALSE_INCLUSIONS.includes(lie)) chain.forget(1);
  };
}

/** Creates a vault with its wallet, on a chain that mines blocks. */
async function createVault(world: World, chain: SimulatedChain): Promise<void> {
  let isCreated = false;
  const created = world.found().then(() => (isCreated = true));
  keepMining(world, chain);
  keepSweeping(world);
  await world.schedule.run(() => isCreated, RECOVERY_MS);
  await created;
}

async function paymentOn(world: World, chain: SimulatedChain, times: bigint): Promise<PaymentRequest> {
  const payment = world.oracle.paymentRequest(chain, chain.recipients[0] ?? '', chain.unit * times);
  await settledBy(world, createdBy(world, payment));
  return payment;
}

async function createdBy(world: World, payment: PaymentRequest): Promise<void> {
  const [alice] = world.people;
  if (alice === undefined) throw new Error('there are three people');
  await create(world, payment, alice);
}

async function paidBy(world: World, payment: PaymentRequest): Promise<void> {
  await createdBy(world, payment);
  await approvedBy(world, payment);
}

async function approvedBy(world: World, payment: PaymentRequest): Promise<void> {
  for (const person of world.people.slice(0, 2)) await approve(world, payment, person);
}
