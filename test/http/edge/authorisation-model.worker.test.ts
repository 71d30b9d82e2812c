import { expect, test } from 'vitest';
import { seededRandom } from '#local/stack/seeded-random.ts';
import type { Person, Treasury } from '../scene.worker.ts';
import {
  accept,
  anotherToken,
  withinLimits,
  call,
  changePolicy,
  created,
  enter,
  join,
  foundTreasury,
  RECIPIENT,
} from '../scene.worker.ts';

/**
 * Checks permissions a second time, with a model of roles and approvals that shares no code with
 * the service. Random requests go to both, and both must give the same result.
 */

const FIRST_SEED = 20_261_121;
const WORLDS = 12;
const STEPS = 25;

type Role = 'viewer' | 'initiator' | 'signer' | 'admin';

interface Modelled {
  readonly id: string;
  readonly creator: string;
  readonly approvers: Set<string>;
  state: 'SUBMITTED' | 'SIGNING' | 'REJECTED' | 'CANCELLED';
  rejectedBy: string | null;
}

/** The permissions as a table: the roles that may perform each action. */
const MAY: Readonly<Record<string, readonly Role[]>> = {
  read: ['viewer', 'initiator', 'signer', 'admin'],
  create: ['initiator', 'signer'],
  approve: ['signer'],
  reject: ['signer'],
  cancel: ['admin'],
};

class Model {
  readonly roles = new Map<string, ReadonlySet<Role>>();
  readonly transactions: Modelled[] = [];

  may(person: string, what: string): boolean {
    return (MAY[what] ?? []).some((role) => this.roles.get(person)?.has(role) === true);
  }

  /** Returns the status that the service should answer, and changes the model accordingly. */
  act(person: string, what: string, transaction: Modelled): number {
    const member = this.may(person, 'read');
    if (what === 'read') return member ? 200 : 403;
    if (what === 'cancel') {
      const own = transaction.creator === person && this.may(person, 'create');
      if (!own && !this.may(person, 'cancel')) return 403;
      if (transaction.state === 'CANCELLED') return 200;
      if (transaction.state !== 'SUBMITTED') return 409;
      transaction.state = 'CANCELLED';
      return 200;
    }
    if (!this.may(person, what)) return 403;
    if (what === 'reject') {
      if (transaction.state === 'REJECTED' && transaction.rejectedBy === person) return 200;
      if (transaction.state !== 'SUBMITTED') return 409;
      transaction.state = 'REJECTED';
      transaction.rejectedBy = person;
      return 200;
    }
    const said = transaction.approvers.has(person);
    if (transaction.state === 'SIGNING') return said ? 200 : 409;
    if (transaction.state !== 'SUBMITTED') return 409;
    transaction.approvers.add(person);
    if (transaction.approvers.size >= 2) transaction.state = 'SIGNING';
    return 200;
  }

  /**
   * Sets the signers. A person who is not a signer any more loses the approvals of undecided
   * transactions.
   */
  setSigners(signers: readonly string[]): void {
    for (const [person, roles] of this.roles) {
      const others = [...roles].filter((role) => role !== 'signer');
      this.roles.set(person, new Set(signers.includes(person) ? [...others, 'signer'] : others));
    }
    for (const transaction of this.transactions) {
      if (transaction.state !== 'SUBMITTED') continue;
      for (const approver of transaction.approvers)
        if (!signers.includes(approver)) transaction.approvers.delete(approver);
    }
  }
}

function pick<T>(chance: () => number, from: readonly T[]): T {
  const picked = from[Math.floor(chance() * from.length)];
  if (picked === undefined) throw new Error('there is nothing to pick from');
  return picked;
}

interface World {
  readonly treasury: Treasury;
  readonly people: readonly Person[];
  readonly model: Model;
}

async function newWorld(chance: () => number): Promise<World> {
  const treasury = await foundTreasury();
  const model = new Model();
  for (const { id } of [treasury.alice, treasury.bob, treasury.carol])
    model.roles.set(id, new Set(['initiator', 'signer']));
  model.roles.set(treasury.victor.id, new Set(['viewer']));
  const others: Person[] = [];
  for (let i = 0; i < 3; i++) {
    const person = await enter('random');
    const roles = (['viewer', 'initiator', 'admin'] as const).filter(() => chance() < 0.5);
    others.push(person);
    if (roles.length === 0) continue;
    await join(treasury, person, roles);
    model.roles.set(person.id, new Set(roles));
  }
  const { alice, bob, carol, victor, mallory } = treasury;
  return { treasury, model, people: [alice, bob, carol, victor, mallory, ...others] };
}

/** Sends one random request to the service, and performs the same action in the model. */
async function step(chance: () => number, { treasury, people, model }: World): Promise<void> {
  const person = pick(chance, people);
  const { token } = await withinLimits(person);
  const dice = chance();
  if (dice < 0.06) {
    const { alice, bob, carol, victor } = treasury;
    const signers = [alice.id, bob.id, carol.id, ...(chance() < 0.5 ? [victor.id] : [])].filter(
      (id) => id !== (chance() < 0.5 ? alice.id : ''),
    );
    if (signers.every((id) => model.may(id, 'approve')) && signers.length === countSigners(model)) return;
    await changePolicy(treasury, { signers });
    for (const id of signers) await accept(treasury.id, { id });
    model.setSigners(signers);
    return;
  }
  if (dice < 0.3 || model.transactions.length === 0) {
    const body = { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, amount: '1' };
    const answer = await call('POST /transaction/transfer', { token, body });
    const expected = model.may(person.id, 'create') ? 201 : 403;
    expect([person.id, 'create', answer.status]).toEqual([person.id, 'create', expected]);
    if (expected === 201) {
      const made = { id: answer.body['id'], creator: person.id, approvers: new Set<string>(), rejectedBy: null };
      model.transactions.push({ ...made, state: 'SUBMITTED' });
    }
    return;
  }
  const transaction = pick(chance, model.transactions);
  const what = pick(chance, ['read', 'approve', 'approve', 'approve', 'reject', 'cancel']);
  const line = what === 'read' ? `GET /transaction/${transaction.id}` : `POST /transaction/${transaction.id}/${what}`;
  const answer = await call(line, { token });
  const expected = model.act(person.id, what, transaction);
  expect([line, person.id, answer.status]).toEqual([line, person.id, expected]);
  if (answer.status === 200) expect([line, answer.body['state']]).toEqual([line, transaction.state]);
}

function countSigners(model: Model): number {
  return [...model.roles.values()].filter((roles) => roles.has('signer')).length;
}

test.each(Array.from({ length: WORLDS }, (_, i) => FIRST_SEED + i))(
  'the service and the model agree in a random world (seed %i)',
  async (seed) => {
    const chance = seededRandom(seed);
    const world = await newWorld(chance);
    for (let n = 0; n < STEPS; n++) await step(chance, world);
    const { token } = await anotherToken(world.treasury.bob);
    for (const transaction of world.model.transactions.slice(0, 15)) {
      const seen = await call(`GET /transaction/${transaction.id}`, { token });
      const approvers = seen.body['approvals'].map(({ userId }: { userId: string }) => userId);
      expect([seen.body['state'], new Set(approvers)]).toEqual([transaction.state, transaction.approvers]);
    }
  },
);

test('the model detects a violation, because it knows the forbidden actions', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const model = new Model();
  model.roles.set(treasury.victor.id, new Set(['viewer']));
  const transaction: Modelled = {
    id: body['id'],
    creator: treasury.alice.id,
    approvers: new Set(),
    state: 'SUBMITTED',
    rejectedBy: null,
  };
  expect(
    ['read', 'approve', 'reject', 'cancel'].map((what) => model.act(treasury.victor.id, what, transaction)),
  ).toEqual([200, 403, 403, 403]);
});
