import type { ChainNode } from './chains/chain-node.ts';
import type { SimulatedChain } from './chains/chain.ts';
import { ownTransactions } from './final-checks.ts';
import type { PaymentRequest } from './oracle.ts';
import { approve, create } from './people.ts';
import type { World } from './world.ts';
import { mayEndUnknown, NOT_SHOWN } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

const POLL_MS = 10_000;
/** The maximum number of times that the person pays again for one payment. */
const MAX_REPETITIONS = 2;

/**
 * Makes a person end each transaction whose end no RPC node shows, as soon as the service allows
 * it, and pay again at once. The documentation forbids the second payment, and people make it.
 * Returns the function that ends this.
 */
export function keepPayingAgain(world: World, chain: SimulatedChain): () => void {
  let isOver = false;
  const busy = new Set<string>();
  const next = () => {
    if (isOver) return;
    for (const transaction of ownTransactions(world)) {
      const { id } = transaction;
      if (busy.has(id)) continue;
      busy.add(id);
      void act(world, chain, transaction).finally(() => busy.delete(id));
    }
    world.schedule.after(POLL_MS, next);
  };
  next();
  return () => (isOver = true);
}

async function act(world: World, chain: SimulatedChain, transaction: Transaction): Promise<void> {
  const { id, state, stateReason, cancelling } = transaction;
  const [person] = world.people;
  const payment = world.oracle.payments.find((one) => one.id === id);
  if (person === undefined || payment === undefined || state !== 'BROADCAST') return;
  const { token } = person;
  // The service ends such a transaction only after its cancellation was sent.
  if (stateReason === NOT_SHOWN && !cancelling) {
    await world.request(`POST /transaction/${id}/cancel`, { token });
    return;
  }
  if (!mayEndUnknown(transaction)) return;
  const isUnknown = isUnknownToAll(world.nodes.get(chain) ?? [], chain, transaction);
  const ended = await world.request(`POST /transaction/${id}/cancel`, { token, body: { acknowledge: stateReason } });
  if (ended?.status !== 200 || ended.body['state'] !== 'FAILED') return;
  await payAgain(world, payment, isUnknown);
}

/**
 * Reports whether all RPC nodes state that the end is unknown. One that is honest shows an attempt
 * that waits or is in a block, and it never states falsely that a nonce or a UTXO is used.
 */
function isUnknownToAll(
  nodes: readonly ChainNode[],
  chain: SimulatedChain,
  { attempts, stateReason }: Transaction,
): boolean {
  if (nodes.every(({ lie }) => lie !== null)) return true;
  const isShown = attempts.some(({ signed }) => signed !== null && chain.shows(signed.hash));
  return !isShown && (stateReason === NOT_SHOWN || stateReason === 'REJECTED_BY_NODE');
}

/** The amount is greater by a few units, by which the oracle distinguishes the two payments. */
async function payAgain(world: World, payment: PaymentRequest, isUnknown: boolean): Promise<void> {
  const { oracle, people } = world;
  const [person] = people;
  const first = payment.repeats?.payment ?? payment;
  const before = oracle.payments.filter(({ repeats }) => repeats?.payment === first).length;
  if (person === undefined || before >= MAX_REPETITIONS) return;
  const again = oracle.paymentRequest(first.chain, first.to, first.amount + BigInt(oracle.payments.length));
  again.repeats = { payment: first, isUnknown };
  await create(world, again, person);
  for (const one of people.slice(0, 2)) await approve(world, again, one);
}
