import type { PaymentRequest } from './oracle.ts';
import type { Answer, Person, World } from './world.ts';

/**
 * The number of times that a client sends a request before it regards the service as unavailable.
 */
const MAX_TRIES = 200;
const PAUSE_MS = 8_000;

/**
 * Repeats a request until an answer states its outcome. Returns null when the service is
 * unavailable.
 */
async function insist(world: World, request: () => Promise<Answer | null>): Promise<Answer | null> {
  for (let time = 1; time <= MAX_TRIES; time++) {
    const answer = await request();
    if (answer !== null && answer.status < 500) return answer;
    await world.schedule.sleep(1_000 + world.schedule.upTo(PAUSE_MS));
  }
  return null;
}

const MINUTE_MS = 60_000;

/** Reports whether a payment has an end; one of seven has. */
function isEnding({ key }: PaymentRequest): boolean {
  return numberOf(key) % 7 === 0;
}

/**
 * Returns the time until the end of a payment: from ten minutes, in which few payments are
 * completed, to an hour and a half.
 */
function periodOf({ key }: PaymentRequest): number {
  return (10 + (numberOf(key) % 5) * 20) * MINUTE_MS;
}

function numberOf(key: string): number {
  return Number(key.replace('wish-', ''));
}

/** Returns the token of a payment, and a fee of it that is rounded up. */
function tokenFields({ token, amount }: PaymentRequest) {
  return token === null ? {} : { tokenAddress: token, maxTokenFee: (amount / 100n + 1n).toString() };
}

/** Creates a payment as an integrator does: with an idempotency key that every retry repeats. */
export async function create(world: World, payment: PaymentRequest, creator: Person): Promise<void> {
  const speed = world.schedule.pick(['slow', 'normal', 'fast']);
  // A retry has the same end as the first request.
  if (isEnding(payment)) payment.notAfterMs ??= world.schedule.nowMs + periodOf(payment);
  const body = {
    vaultId: world.vaultId,
    chain: payment.chain.row.name,
    to: payment.to,
    amount: payment.amount.toString(),
    ...tokenFields(payment),
    speed,
    ...(payment.notAfterMs === null ? {} : { notAfter: new Date(payment.notAfterMs).toISOString() }),
  };
  const headers = { 'idempotency-key': payment.key };
  const answer = await insist(world, () =>
    world.request('POST /transaction/transfer', { token: creator.token, body, headers }),
  );
  if (answer?.status === 201) world.oracle.created(payment, String(answer.body['id']));
  else payment.isRefused = true;
  if (answer === null) world.oracle.fault(`I12: ${payment.key} cannot be created`);
}

/**
 * Returns the body of an approval: the signature of the person's device over the digest that the
 * path shows. Returns no body for a person without a device.
 */
async function signatureOf(world: World, { token, device }: Person, path: string): Promise<{ body?: unknown }> {
  if (device === undefined) return {};
  const shown = await insist(world, () => world.request(`GET ${path}`, { token }));
  return shown?.status === 200 ? { body: device.sign(String(shown.body['digest'])) } : {};
}

export async function approve(world: World, payment: PaymentRequest, person: Person): Promise<void> {
  if (payment.id === null) return;
  const path = `/transaction/${payment.id}`;
  const signature = await signatureOf(world, person, `${path}/challenge`);
  payment.requestedBy.add(person.id);
  const answer = await insist(world, () =>
    world.request(`POST ${path}/approve`, { token: person.token, ...signature }),
  );
  if (answer?.status === 200) payment.acknowledgedTo.add(person.id);
  // The transaction is already decided, or the person is no longer a signer.
  else if (answer?.status !== 409 && answer?.status !== 403) world.oracle.fault(`approve: ${JSON.stringify(answer)}`);
}

/** Rejects or cancels a payment. The payment is stopped when the answer states its final state. */
export async function stop(
  world: World,
  payment: PaymentRequest,
  person: Person,
  how: 'reject' | 'cancel',
): Promise<void> {
  if (payment.id === null) return;
  const answer = await insist(world, () =>
    world.request(`POST /transaction/${payment.id}/${how}`, { token: person.token }),
  );
  const state = answer?.body['state'];
  if (answer?.status === 200 && (state === 'REJECTED' || (state === 'CANCELLED' && how === 'cancel')))
    payment.isStopped = true;
  else if (answer?.status !== 200 && answer?.status !== 409 && answer?.status !== 403) {
    world.oracle.fault(`${how}: ${JSON.stringify(answer)}`);
  }
}

export async function speedUp(world: World, payment: PaymentRequest, person: Person): Promise<void> {
  if (payment.id !== null) await world.request(`POST /transaction/${payment.id}/speed-up`, { token: person.token });
}

/** @param change the path of a policy change */
export async function approveChange(world: World, change: string, person: Person): Promise<Answer | null> {
  const signature = await signatureOf(world, person, change);
  return insist(world, () => world.request(`POST ${change}/approve`, { token: person.token, ...signature }));
}

/** Changes the threshold or the signers, with the approvals of all people. */
export async function changePolicy(world: World, proposer: Person): Promise<void> {
  const { schedule, oracle, people } = world;
  const signers = schedule.isLuck(0.5) ? people : people.slice(0, 2);
  const threshold = signers.length === 3 && schedule.isLuck(0.5) ? 3 : 2;
  const to = { threshold, signers: signers.map(({ id }) => id) };
  const path = `/vault/${world.vaultId}/policy-change`;
  const before = oracle.terms;
  // The change may take effect from the first request on.
  oracle.changing(to);
  const proposed = await world.request(`POST ${path}`, { token: proposer.token, body: to });
  if (proposed?.status !== 201) {
    // A refusal changes nothing; without an answer, either policy may come into force.
    if (proposed !== null && proposed.status < 500) oracle.changed(before);
    return;
  }
  for (const person of people) {
    const answer = await approveChange(world, `${path}/${String(proposed.body['id'])}`, person);
    if (answer?.body['state'] === 'ADOPTED') return oracle.changed(to);
  }
}

/** Requests a comparison of the balances with the chain. */
export async function requestRescan(world: World): Promise<void> {
  const [person] = world.people;
  await world.request(`POST /vault/${world.vaultId}/reprocess-incoming-transactions`, { token: person?.token ?? '' });
}
