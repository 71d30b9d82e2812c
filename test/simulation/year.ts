import { ScriptDevice } from '#cli/device/script-device.ts';
import type { SimulatedChain } from './chains/chain.ts';
import { isIdle, judge, underWay } from './final-checks.ts';
import type { Outcome } from './history.ts';
import { inWorld, settledBy } from './history.ts';
import type { PaymentRequest } from './oracle.ts';
import { approve, approveChange, create } from './people.ts';
import type { Family, World } from './world.ts';

/**
 * A year of one busy vault in calm weather, with a wallet on each kind of chain, whose signers
 * approve with devices. It shows that no invocation uses more of the platform as the history grows.
 * Each day has payments, a deposit and a reorganisation on one chain; each week a new policy with
 * another device; each month a refresh of each key.
 */
const FAMILIES: readonly Family[] = ['evm', 'bitcoin', 'solana'];
const PAYMENTS_A_DAY = 3;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BLOCK_MS = 1_000;
/** The time in which the work of a day ends. */
const BUSY_MS = 3 * HOUR_MS;
/** The interval at which the story checks whether the work of a day has ended. */
const POLL_MS = 30_000;

export function liveYear(days: number, log?: (line: string) => void): Promise<Outcome> {
  const course = { seed: 1, families: FAMILIES, ...(log === undefined ? {} : { log }) };
  return inWorld(course, (world) => new Year(world).live(days));
}

class Year {
  readonly #world: World;
  #endWork = (): unknown => null;
  #payments = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async live(days: number): Promise<void> {
    const { schedule, oracle, chains } = this.#world;
    this.#keepTime();
    this.#beginWork(chains);
    await settledBy(this.#world, this.#world.found());
    await settledBy(this.#world, this.#enrolDevices());
    for (let day = 0; day < days && oracle.faults.length === 0; day++) {
      const tomorrowMs = schedule.nowMs + DAY_MS;
      const busy = chains.slice(day % chains.length).slice(0, 1);
      this.#endWork();
      this.#beginWork(busy);
      const work = busy.flatMap((chain) => [this.#traffic(chain, day), this.#reorganise(chain)]);
      if (day % 7 === 3) work.push(this.#replaceDevice(day));
      if (day % 30 === 20) work.push(this.#refreshKeys());
      await settledBy(this.#world, Promise.all(work));
      await this.#settled();
      this.#endWork();
      await schedule.run(() => oracle.faults.length > 0, tomorrowMs - schedule.nowMs);
    }
    if (oracle.faults.length === 0) judge(this.#world);
  }

  /** Mines and sweeps each hour, as the platform does each minute. */
  #keepTime(): void {
    for (const chain of this.#world.chains) chain.mine();
    void this.#world.sweep();
    this.#world.schedule.after(HOUR_MS, () => this.#keepTime());
  }

  /** Mines the chains of a day each second, and sweeps each minute, until its work has ended. */
  #beginWork(chains: readonly SimulatedChain[]): void {
    const { schedule } = this.#world;
    let isOver = false;
    const repeat = (everyMs: number, act: () => void) => {
      if (isOver) return;
      act();
      schedule.after(everyMs, () => repeat(everyMs, act));
    };
    repeat(BLOCK_MS, () => {
      for (const chain of chains) chain.mine();
    });
    repeat(MINUTE_MS, () => void this.#world.sweep());
    this.#endWork = () => (isOver = true);
  }

  /** Makes payments, and deposits that a monitor reports. */
  async #traffic(chain: SimulatedChain, day: number): Promise<void> {
    const { oracle, people, schedule, wallets } = this.#world;
    const wallet = wallets.get(chain) ?? '';
    for (let i = 0; i < PAYMENTS_A_DAY; i++) {
      this.#payments += 1;
      const amount = chain.unit / 10n + BigInt(this.#payments);
      const payment: PaymentRequest = oracle.paymentRequest(chain, schedule.pick(chain.recipients), amount);
      const [creator] = people;
      if (creator === undefined) throw new Error('there are three people');
      await create(this.#world, payment, creator);
      if (payment.isRefused) oracle.fault(`${payment.key} is refused`);
      for (const person of people.slice(0, 2)) await approve(this.#world, payment, person);
    }
    // The payer outside has few coins on Bitcoin: one for each month.
    if (chain.row.family === 'bitcoin' && day % 30 > 2) return;
    const hash = chain.deposit(wallet, chain.unit + BigInt(this.#payments));
    await this.#world.report(chain, hash, `delivery-${this.#payments}`);
  }

  async #reorganise(chain: SimulatedChain): Promise<void> {
    const { schedule } = this.#world;
    await schedule.sleep(MINUTE_MS / 4);
    chain.reorganise(1 + schedule.upTo(chain.deepestFork), 0.2);
  }

  async #enrolDevices(): Promise<void> {
    const { people } = this.#world;
    const devices = people.map(() => ScriptDevice.create());
    const addDevices = people.map(({ id }, i) => devices[i]?.enrolment(id));
    const limits = this.#world.chains.map(({ row, unit }) => ({
      chain: row.name,
      perDay: (unit * 1_000_000n).toString(),
    }));
    // Each device that begins to count signs the change.
    for (const [i, person] of people.entries()) Object.assign(person, { device: devices[i] });
    await this.#adopt({ approvalMode: 'device', cosigners: null, addDevices, limits }, people);
  }

  /** Replaces the device of one person. The old one stays until the new one is in force. */
  async #replaceDevice(day: number): Promise<void> {
    const { people, schedule } = this.#world;
    const person = people[day % people.length];
    if (person?.device === undefined) throw new Error('each person has a device');
    const device = ScriptDevice.create();
    const old = person.device.asDevice(person.id).keyId;
    await this.#adopt({ addDevices: [device.enrolment(person.id)] });
    person.device = device;
    // Approvals of payments that the person signed with the old device end before.
    await schedule.sleep(MINUTE_MS);
    await this.#adopt({ removeDevices: [old] });
  }

  async #adopt(
    patch: Readonly<Record<string, unknown>>,
    approvers: World['people'] = this.#world.people.slice(0, 2),
  ): Promise<void> {
    const { people, vaultId, oracle } = this.#world;
    const path = `/vault/${vaultId}/policy-change`;
    const [proposer] = people;
    const proposed = await this.#world.request(`POST ${path}`, { token: proposer?.token ?? '', body: patch });
    if (proposed?.status !== 201) return oracle.fault(`a policy is not proposed: ${JSON.stringify(proposed)}`);
    let state = '';
    const change = `${path}/${String(proposed.body['id'])}`;
    for (const person of approvers) {
      const answer = await approveChange(this.#world, change, person);
      state = String(answer?.body['state']);
    }
    if (state !== 'ADOPTED') oracle.fault(`a policy is not adopted: ${state}`);
  }

  async #refreshKeys(): Promise<void> {
    const { vaultId, oracle } = this.#world;
    const vault = await this.#world.request(`GET /internal/vault/${vaultId}`);
    const keys = vault?.body['keys'] as readonly { readonly keyId: string }[];
    for (const { keyId } of keys) {
      const answer = await this.#world.request(`POST /internal/vault/${vaultId}/key/${keyId}/refresh`);
      if (answer?.status !== 202) oracle.fault(`a refresh is not accepted: ${JSON.stringify(answer)}`);
    }
  }

  async #settled(): Promise<void> {
    const { schedule, oracle } = this.#world;
    let isOver = false;
    const poll = () => {
      isOver = isIdle(this.#world);
      if (!isOver) schedule.after(POLL_MS, poll);
    };
    poll();
    await schedule.run(() => isOver || oracle.faults.length > 0, BUSY_MS);
    if (!isOver) oracle.fault(`the work of a day does not end: ${underWay(this.#world)}`);
  }
}
