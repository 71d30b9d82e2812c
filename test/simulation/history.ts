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
  /** Simulated time in which nothing but a resend timer of the outbox was awaited. */
  readonly resendWaitMs: number;
}

/** How one history goes; all of it follows from the seed. */
export interface Course {
  readonly seed: number;
  /** By the seed when absent. */
  readonly families?: readonly Family[];
  /** Of each chain; two when absent. */
  readonly nodes?: number;
  /** No weather, and crashes at these points alone: the same story each time. */
  readonly crashPoints?: ReadonlySet<number>;
  readonly log?: (line: string) => void;
}

/**
 * Each history that is lived has a day of its own: what modules remember of an earlier one is long
 * ago.
 */
let today = 0;
const FIRST_DAY_MS = Date.UTC(2027, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;
const STORM_MS = 4 * 60_000;
/** Everything comes to its end by itself, in fair weather, within this. */
const RECOVERY_MS = 3 * 60 * 60_000;
/** What a vault has wallets on. */
const FAMILIES: readonly (readonly Family[])[] = [['evm'], ['bitcoin'], ['solana'], ['evm', 'bitcoin', 'solana']];
/** So long people wait for an end that no node shows. */
const UNKNOWN_FOR_MS = 30 * 60_000;
const BLOCK_MS = 4_000;
const POLL_MS = 20_000;

/** Lives one history, and judges it. */
export function live(course: Course): Promise<Outcome> {
  return inWorld(course, (world) => happen(course, world));
}

/** Lets something happen in a world of its own, on a day of its own. */
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
  // In fair weather two approvals are enough, whichever part dies.
  if (isPlanned && oracle.payments.some((payment) => oracle.paid(payment) !== 1))
    oracle.fault('I12: a payment was not made');
  const { totalMs } = world.resendWaits;
  if (crashPoints?.size === 0 && totalMs > 0)
    oracle.fault(`I13: nothing went wrong, and a job waited ${totalMs} ms for its message to be sent again`);
  if (oracle.faults.length === 0) await setBack(world);
}

/**
 * What people do about what does not end by itself, again and again. @param isDue reports whether
 * they do anything now
 */
export function letPeopleAct(world: World, isDue = () => true): void {
  if (isDue()) {
    // By itself it compares once an hour; a waiting person requests it.
    if (isQuiet(world)) void requestRescan(world);
    payWhereOneWaits(world);
    endWhereUnknown(world);
  }
  world.schedule.after(POLL_MS, () => letPeopleAct(world, isDue));
}

/** Calm, breezy or stormy, each part by itself. */
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
 * A block every few seconds; in foul weather they may take their time, some are undone, and what
 * waits is forgotten.
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
      // One node alone is believed.
      if ((world.nodes.get(chain)?.length ?? 0) > 1) judgeFinality(world, chain);
    }
    const paceMs = isFoul ? foulPaceMs : BLOCK_MS;
    schedule.after(isFoul && schedule.isLuck(0.02) ? 90_000 : paceMs / 2 + schedule.upTo(paceMs), next);
  };
  schedule.after(BLOCK_MS, next);
}

export function keepSweeping(world: World): void {
  const { schedule } = world;
  const next = () => {
    // Cron misses a minute now and then.
    if (!schedule.isLuck(schedule.weather.vanished)) void world.sweep();
    schedule.after(60_000, next);
  };
  schedule.after(60_000, next);
}

/** What the platform and the parties do to a service. */
function stir(world: World): void {
  const { schedule } = world;
  // One of two lies, and the other one is at most ill.
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
      node.miscount = schedule.isLuck(0.1) ? schedule.pick([1, 2, 1_000, -1, -3]) : 0;
      node.lie = node === liars.get(node.chain) && schedule.isLuck(0.2) ? schedule.pick(LIES) : null;
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
  const payment = oracle.paymentRequest(chain, schedule.pick(chain.recipients), amount);
  const creator = schedule.pick(people);
  await create(world, payment, creator);
  // A client that lost its memory sends the request again.
  if (schedule.isLuck(0.2)) await create(world, payment, creator);
  await Promise.all(people.map((person) => decide(world, payment, person)));
}

/** One payment on a chain that is made for those that wait above an unused nonce. */
const paying = new WeakMap<World, Set<SimulatedChain>>();

/**
 * The way out of a nonce that co-signers let no transaction use up (docs/chains.md, Nonces): the
 * next payment of the wallet gets it, so people make one, as `stateReason` says.
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
 * The way out of an end that no node shows: people compare the nodes, and end it after a warning.
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

/** Carries out what one person does about one payment. */
async function decide(world: World, payment: PaymentRequest, person: Person): Promise<void> {
  const { schedule } = world;
  const mood = schedule.chance();
  await schedule.sleep(schedule.upTo(60_000));
  if (mood < 0.04) return stop(world, payment, person, 'reject');
  if (mood < 0.08) return stop(world, payment, person, 'cancel');
  if (mood < 0.15) return undefined;
  await approve(world, payment, person);
  // Two fingers, or two windows.
  if (mood > 0.9) await Promise.all([approve(world, payment, person), approve(world, payment, person)]);
  if (mood > 0.7) {
    await schedule.sleep(schedule.upTo(30_000));
    if (mood > 0.95) await stop(world, payment, person, 'cancel');
    else await speedUp(world, payment, person);
  }
  return undefined;
}

/** Others pay; a monitor reports it, late, twice, or never. */
async function deposits(world: World): Promise<void> {
  const { schedule, wallets } = world;
  const count = schedule.upTo(4);
  for (let i = 0; i < count; i++) {
    await schedule.sleep(schedule.upTo(60_000));
    const [chain, wallet] = schedule.pick([...wallets]);
    const hash = chain.deposit(wallet, 1_000n + BigInt(schedule.upTo(10_000_000)));
    const reported = schedule.upTo(3);
    for (let time = 0; time < reported; time++) {
      await schedule.sleep(schedule.upTo(20_000));
      await world.report(chain, hash, `delivery-${i}`);
    }
    // A forged one: of a transaction that there is not.
    if (schedule.isLuck(0.2)) await world.report(chain, chain.forged(i), `forged-${i}`);
  }
}

/**
 * One payment with two approvals and a deposit on each chain: short, so that every point of it can
 * be the last.
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

/** Events of the log that report a fault which the simulation has not planned. */
const PROBLEM_EVENTS = new Set(['request-failed', 'job-failed', 'vault-alarm-failed', 'sweep-failed']);

/** Reads the log of the service: an error that no fault of the simulation explains is a finding. */
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
