import { pollUntil } from '#local/stack/poll.ts';
import type { Person } from '#local/stack/provision.ts';
import type { PaymentRequest } from './load.ts';
import { ensure } from './load.ts';

/** What clients do after a breakdown. */

const RECOVERY_MS = 3_600_000;
/**
 * The time between two polls of the chain. More frequent polls would keep the RPC node from other
 * work.
 */
const POLL_MS = 1_000;
/** The time without any progress after which the recovery has failed. */
const STANDSTILL_MS = 180_000;

/** Repeats every request that has no answer, and waits for the end of all payments. */
export async function recover(
  signers: readonly Person[],
  payments: readonly PaymentRequest[],
  sent: () => Promise<number>,
): Promise<void> {
  const unknown = payments.filter(({ id }) => id === null).length;
  for (const payment of payments) {
    const reach = await ensure(signers, payment);
    if (reach !== 'done') throw new Error(`the service is ${reach}, and no kill was planned`);
  }
  console.log(`${payments.length} transfers stand, ${unknown} of them were requested again; waiting for the last`);
  let [last, movedAtMs] = [await sent(), Date.now()];
  const paid = async () => {
    const now = await sent();
    if (now > last) [last, movedAtMs] = [now, Date.now()];
    if (Date.now() - movedAtMs > STANDSTILL_MS) {
      throw new Error(`nothing moves at ${now} of ${payments.length}: ${await wordsOfOpen(signers, payments)}`);
    }
    return now >= payments.length ? true : null;
  };
  // The payments are signed one after the other, so a thousand of them take long.
  await pollUntil('last payment', paid, RECOVERY_MS, POLL_MS);
  for (const { id } of payments) {
    const observation = async () =>
      (await readerOf(signers).client.read(id ?? '')).state === 'SUCCEEDED' ? true : null;
    await pollUntil(`success of ${id}`, observation, STANDSTILL_MS);
  }
}

export function readerOf([reader]: readonly Person[]): Person {
  if (reader === undefined) throw new Error('no person can read the records');
  return reader;
}

async function wordsOfOpen(signers: readonly Person[], payments: readonly PaymentRequest[]): Promise<string> {
  const words: string[] = [];
  for (const { id } of payments) {
    const { state, stateReason } = await readerOf(signers).client.read(id ?? '');
    if (state !== 'SUCCEEDED') words.push(`${id} is ${state} (${stateReason})`);
  }
  return words.join(', ');
}
