import { meterHere } from '../limits/limits.ts';
import type { Weather } from './schedule.ts';
import { CALM, Schedule } from './schedule.ts';
import { simulate } from './platform/clocks.ts';
import { isQuiet, isSettled, judge, judgeFinality, underWay, unknownEnds, waitsForPayment } from './final-checks.ts';
import { setBack } from './d1-restore.ts';
import type { SimulatedChain } from './chains/chain.ts';
import { LIES } from './chains/lies.ts';
import { approve, changePolicy, create, requestRescan, speedUp, stop } from './people.ts';
import type { PaymentRequest } from './oracle.ts';
import type { Family, Person } from './world.ts';
import { World } from './world.ts';

export interface Outcome {
  readonly seed: number;
  readonly faults: readonly string[];
  readonly traceHash: string;
  readonly events: number;
  readonly calls: number;
  readonly injected: number;
  readonly crashes: number;
  readonly paid: number;
  readonly signatures: number;
  readonly points: number;
  /**
   * The simulated time in milliseconds during which the service only waited for a resend timer of
   * the outbox.
   */
  readonly resendWaitMs: number;
}

/** The parameters of one history. Everything in a history follows from its seed. */
export interface Course {
  readonly seed: number;
  /** The families of the simulated chains; drawn from the seed when absent. */
  readonly families?: readonly Family[];
  /** The number of RPC nodes of each chain; two when absent. */
  readonly nodes?: number;
  /**
   * Disables all faults except crashes at these points, so that the history is the same each time.
   */
  readonly crashPoints?: ReadonlySet<number>;
  readonly log?: (line: string) => void;
}

/**
 * The number of days that earlier histories have used. Each history gets a day of its own, so that
 * whatever modules remember of an earlier history has expired.
 */
let today = 0;
const FIRST_DAY_MS = Date.UTC(2027, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;
const STORM_MS = 4 * 60_000;
/** The time within which every transaction ends by itself in calm weather. */
const RECOVERY_MS = 3 * 60 * 60_000;
/** The families on which a vault may have wallets; each history draws one of these sets. */
const FAMILIES: readonly (readonly Family[])[] = [['evm'], ['bitcoin'], ['solana'], ['evm', 'bitcoin', 'solana']];
/** The time that people wait for the outcome of a transaction that no RPC node reports. */
const UNKNOWN_FOR_MS = 30 * 60_000;
const BLOCK_MS = 4_000;
const POLL_MS = 20_000;

/** Runs one history and checks its invariants. */
export function live(course: Course): Promise<Outcome> {
  return inWorld(course, (world) => happen(course, world));
}

/** Runs a story in a new world, on a day of its own. */
export async function inWorld(course: Course, story: (world: World) => Promise<void>): Promise<Outcome> {
  const schedule = new Schedule(course.seed, FIRST_DAY_MS + today++ * DAY_MS, course.log);
  const world = new World(schedule, course.families ?? schedule.pick(FAMILIES), course.nodes);
  simulate(schedule, (url, init) => world.network(url, init));
  const unexpected = listen(schedule);
  try {
    await story(world);
  } finally {
    unexpected.stop();
    simulate(null, null);
    world.close();
  }
  const { oracle } = world;
  for (const text of meterHere().exceeded.splice(0)) oracle.fault(`limit: ${text}`);
  for (const line of unexpected.lines) oracle.fault(`unexpected: ${line}`);
  const { events, calls, faults: injected, crashes } = schedule.counts;
  return {
    seed: course.seed,
    faults: oracle.faults,
    traceHash: schedule.traceHash(),
    events,
    calls,
    injected,
    crashes,
    paid: oracle.payments.filter((payment) => oracle.paid(payment) > 0).length,
    signatures: oracle.signatures,
    points: schedule.points,
    resendWaitMs: world.resendWaits.totalMs,
  };
}

async function happen({ crashPoints }: Course, world: World): Promise<void> {
  const { schedule, oracle } = world;
  let isCreated = false;
  const created = world.found().then(
    () => (isCreated = true),
    (error: unknown) => oracle.fault(`founding: ${String(error)}`),
  );
  for (const chain of world.chains) keepMining(world, chain);
  keepSweeping(world);
  await schedule.run(() => isCreated || oracle.faults.length > 0, RECOVERY_MS);
  await created;
  schedule.startCounting();
  world.resendWaits.start();
  const isPlanned = crashPoints !== undefined;
  schedule.crashPoints = crashPoints ?? new Set();
  schedule.weather = isPlanned ? CALM : weatherOf(schedule);
  const stories = isPlanned ? plannedStories(world) : randomStories(world);
  if (!isPlanned) stir(world);
  let areDone = false;
  const done = Promise.all(stories).then(
    () => (areDone = true),
    (error: unknown) => oracle.fault(`a story broke: ${String(error)}`),
  );
  const isOver = () => oracle.faults.length > 0 || (isPlanned && areDone && isQuiet(world));
  await schedule.run(isOver, isPlanned ? RECOVERY_MS : STORM_MS);
  schedule.stopCounting();
  schedule.weather = CALM;
  for (const node of world.cosigners) node.isUnreachable = false;
  for (const node of [...world.nodes.values()].flat()) node.recover();
  let isSettledNow = false;
  letPeopleAct(world, () => {
    isSettledNow = areDone && isSettled(world);
    return areDone && !isSettledNow;
  });
  await schedule.run(() => isSettledNow || oracle.faults.length > 0, RECOVERY_MS);
  if (oracle.faults.length > 0) return;
  if (!isSettledNow) oracle.fault(`I12: three hours later there is still something under way: ${underWay(world)}`);
  else await done;
  judge(world);
  // In calm weather two approvals are enough for a payment, whichever part dies.
  if (isPlanned && oracle.payments.some((payment) => oracle.paid(payment) !== 1))
    oracle.fault('I12: a payment was not made');
  const { totalMs } = world.resendWaits;
  if (crashPoints?.size === 0 && totalMs > 0)
    oracle.fault(`I13: nothing went wrong, and a job waited ${totalMs} ms for its message to be sent again`);
  if (oracle.faults.length === 0) await setBack(world);
}

/**
 * Lets people repeatedly do what the service needs from them. @param isDue reports whether they act
 * now
 */
export function letPeopleAct(world: World, isDue = () => true): void {
  if (isDue()) {
    // The service compares balances once an hour by itself; a waiting person requests a comparison.
    if (isQuiet(world)) void requestRescan(world);
    payWhereOneWaits(world);
    endWhereUnknown(world);
  }
  world.schedule.after(POLL_MS, () => letPeopleAct(world, isDue));
}

/** Draws the share of each kind of fault, which may be zero, independently of the others. */
function weatherOf(schedule: Schedule): Weather {
  const some = (most: number) => (schedule.isLuck(0.3) ? 0 : schedule.chance() ** 2 * most);
  return {
    lost: some(0.1),
    unanswered: some(0.1),
    crash: some(0.05),
    slow: some(0.05),
    doubled: some(0.4),
    vanished: some(0.2),
    evicted: some(0.5),
  };
}

/**
 * Mines a block every few seconds. In foul weather blocks may be slower, some blocks are undone,
 * and waiting transactions are lost.
 */
export function keepMining(world: World, chain: SimulatedChain): void {
  const { schedule, oracle, wallets } = world;
  const foulPaceMs = schedule.pick([BLOCK_MS, BLOCK_MS, 4 * BLOCK_MS, 12 * BLOCK_MS]);
  const next = () => {
    const isFoul = schedule.weather !== CALM;
    const deepest = schedule.isLuck(0.4) ? chain.deepestFork : 2;
    if (isFoul && schedule.isLuck(0.06)) chain.reorganise(1 + schedule.upTo(deepest), schedule.pick([0.2, 0.7]));
    if (isFoul && schedule.isLuck(0.04)) chain.forget(0.5);
    for (const node of world.nodes.get(chain) ?? []) node.passBy();
    chain.mine();
    if (wallets.has(chain)) {
      oracle.observation(chain);
      // With only one RPC node, the service believes its false answers, so finality is checked only
      // with several.
      if ((world.nodes.get(chain)?.length ?? 0) > 1) judgeFinality(world, chain);
    }
    const paceMs = isFoul ? foulPaceMs : BLOCK_MS;
    schedule.after(isFoul && schedule.isLuck(0.02) ? 90_000 : paceMs / 2 + schedule.upTo(paceMs), next);
  };
  schedule.after(BLOCK_MS, next);
}

/** Runs the simulation until a person's action is done. */
export async function settledBy(world: World, deed: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = deed.finally(() => (isDone = true));
  await world.schedule.run(() => isDone, RECOVERY_MS);
  await done;
}

export function keepSweeping(world: World): void {
  const { schedule } = world;
  const next = () => {
    // Cron may skip a minute in foul weather.
    if (!schedule.isLuck(schedule.weather.vanished)) void world.sweep();
    schedule.after(60_000, next);
  };
  schedule.after(60_000, next);
}

/** Injects faults of the platform, the RPC nodes and the co-signers. */
function stir(world: World): void {
  const { schedule } = world;
  // Only one RPC node of each chain gives false answers; the others at most fail or lag behind.
  const liars = new Map([...world.nodes].map(([chain, nodes]) => [chain, schedule.pick(nodes)]));
  const next = () => {
    if (schedule.weather === CALM) return;
    for (const namespace of [world.vaults, world.nonces]) {
      for (const host of namespace.hosts.values()) {
        if (host.isIdle && schedule.isLuck(schedule.weather.evicted)) host.evict();
      }
    }
    if (schedule.isLuck(schedule.weather.crash / 2)) schedule.powerCut();
    for (const node of [...world.nodes.values()].flat()) {
      node.isUnreachable = schedule.isLuck(schedule.weather.lost);
      node.isForgetful = schedule.isLuck(0.1);
      node.behind = schedule.isLuck(0.2) ? schedule.upTo(4) : 0;
      const isLiar = node === liars.get(node.chain);
      // Two RPC nodes with the same count far above the right one would prove a false count.
      node.miscount = schedule.isLuck(0.1) ? schedule.pick(isLiar ? [1, 2, 1_000, -1, -3] : [1, 2, -1, -3]) : 0;
      node.lie = isLiar && schedule.isLuck(0.2) ? schedule.pick(LIES) : null;
    }
    // At most one of the three co-signers is unreachable, because two are needed to sign.
    const unreachable = schedule.isLuck(0.3) ? schedule.upTo(3) : null;
    for (const [i, node] of world.cosigners.entries()) node.isUnreachable = i === unreachable;
    if (schedule.isLuck(0.05)) schedule.skewMs = schedule.upTo(240_000) - 60_000;
    if (schedule.isLuck(0.05)) schedule.pick(world.cosigners).skewMs = schedule.upTo(120_000) - 60_000;
    schedule.after(5_000, next);
  };
  schedule.after(5_000, next);
}

function randomStories(world: World): Promise<void>[] {
  const { schedule } = world;
  const payments = Array.from({ length: 1 + schedule.upTo(5) }, (_, i) => randomPayment(world, i));
  const others = [deposits(world)];
  if (schedule.isLuck(0.3)) others.push(later(world, 60_000, () => changePolicy(world, schedule.pick(world.people))));
  return [...payments, ...others];
}

async function later(world: World, mostMs: number, act: () => Promise<void>): Promise<void> {
  await world.schedule.sleep(world.schedule.upTo(mostMs));
  await act();
}

async function randomPayment(world: World, index: number): Promise<void> {
  const { schedule, oracle, people } = world;
  await schedule.sleep(schedule.upTo(120_000));
  const chain = schedule.pick(world.chains);
  const amount = chain.unit * BigInt(index + 1) + BigInt(schedule.upTo(1_000_000));
  const token = schedule.isLuck(0.4) ? (chain.token ?? null) : null;
  const payment = oracle.paymentRequest(chain, schedule.pick(chain.recipients), amount, token);
  const creator = schedule.pick(people);
  await create(world, payment, creator);
  // A client that lost its memory sends the request again.
  if (schedule.isLuck(0.2)) await create(world, payment, creator);
  await Promise.all(people.map((person) => decide(world, payment, person)));
}

/** Chains on which a payment is being made for transactions that wait above an unused nonce. */
const paying = new WeakMap<World, Set<SimulatedChain>>();

/**
 * Makes a payment for transactions that wait above a nonce that co-signers let no transaction use
 * (docs/chains.md, Nonces). The wallet's next payment gets that nonce, as `stateReason` explains.
 */
function payWhereOneWaits(world: World): void {
  const before = paying.get(world) ?? new Set();
  paying.set(world, before);
  for (const chain of world.chains) {
    if (before.has(chain) || !waitsForPayment(world, chain)) continue;
    before.add(chain);
    void payAgain(world, chain).finally(() => before.delete(chain));
  }
}

/**
 * Ends transactions whose outcome no RPC node shows: a person compares the RPC nodes and
 * acknowledges the warning.
 */
function endWhereUnknown(world: World): void {
  const [person] = world.people;
  for (const { id, stateReason } of unknownEnds(world, UNKNOWN_FOR_MS)) {
    const body = { acknowledge: stateReason };
    if (person !== undefined) void world.request(`POST /transaction/${id}/cancel`, { token: person.token, body });
  }
}

async function payAgain(world: World, chain: SimulatedChain): Promise<void> {
  const [person] = world.people;
  if (person === undefined) throw new Error('there are three people');
  const amount = chain.unit + BigInt(world.oracle.payments.length);
  const payment = world.oracle.paymentRequest(chain, chain.recipients[0] ?? '', amount);
  await create(world, payment, person);
  for (const one of world.people) await approve(world, payment, one);
}

/** Carries out the actions of one person on one payment. */
async function decide(world: World, payment: PaymentRequest, person: Person): Promise<void> {
  const { schedule } = world;
  const mood = schedule.chance();
  await schedule.sleep(schedule.upTo(60_000));
  if (mood < 0.04) return stop(world, payment, person, 'reject');
  if (mood < 0.08) return stop(world, payment, person, 'cancel');
  if (mood < 0.15) return undefined;
  await approve(world, payment, person);
  // The person approves twice at once, as with two windows.
  if (mood > 0.9) await Promise.all([approve(world, payment, person), approve(world, payment, person)]);
  if (mood > 0.7) {
    await schedule.sleep(schedule.upTo(30_000));
    if (mood > 0.95) await stop(world, payment, person, 'cancel');
    else await speedUp(world, payment, person);
  }
  return undefined;
}

/** Makes deposits of others; a monitor reports each of them once, twice or never, and late. */
async function deposits(world: World): Promise<void> {
  const { schedule, wallets } = world;
  const count = schedule.upTo(4);
  for (let i = 0; i < count; i++) {
    await schedule.sleep(schedule.upTo(60_000));
    const [chain, wallet] = schedule.pick([...wallets]);
    const token = schedule.isLuck(0.4) ? (chain.token ?? null) : null;
    // Some deposits are dust.
    const least = schedule.isLuck(0.3) ? chain.dust : 1_000n + BigInt(schedule.upTo(10_000_000));
    const hash = chain.deposit(wallet, least + BigInt(schedule.upTo(10)), token);
    const reported = schedule.upTo(3);
    for (let time = 0; time < reported; time++) {
      await schedule.sleep(schedule.upTo(20_000));
      await world.report(chain, hash, `delivery-${i}`);
    }
    // A forged report names a transaction that does not exist.
    if (schedule.isLuck(0.2)) await world.report(chain, chain.forged(i), `forged-${i}`);
  }
}

/**
 * Returns one payment with two approvals and one deposit on each chain. The story is short, so that
 * a crash can be tested at every point.
 */
function plannedStories(world: World): Promise<void>[] {
  return [...world.wallets].flatMap(([chain, wallet]) => {
    const [alice, bob] = world.people;
    if (alice === undefined || bob === undefined) throw new Error('there are three people');
    const story = async () => {
      const payment = world.oracle.paymentRequest(chain, chain.recipients[0] ?? '', chain.unit);
      await create(world, payment, alice);
      await approve(world, payment, alice);
      await approve(world, payment, bob);
    };
    const deposit = async () => {
      const hash = chain.deposit(wallet, 5_000n);
      await world.report(chain, hash, 'delivery');
    };
    return [story(), deposit()];
  });
}

/** Events of the log that report a fault which the simulation has not injected. */
const PROBLEM_EVENTS = new Set([
  'request-failed',
  'job-failed',
  'vault-alarm-failed',
  'sweep-failed',
  'sweep-step-failed',
]);

/** Collects the errors in the log of the service that no injected fault explains. */
function listen(schedule: Schedule): { readonly lines: readonly string[]; stop: () => void } {
  const lines: string[] = [];
  const real = console.error;
  console.error = (line: unknown) => {
    const text = String(line);
    const event = text.startsWith('{') ? (JSON.parse(text) as { event?: string }).event : undefined;
    schedule.note(`log ${text.slice(0, 200)}`);
    if (event === undefined || (PROBLEM_EVENTS.has(event) && !text.includes('(simulated)'))) lines.push(text);
  };
  return { lines, stop: () => (console.error = real) };
}
