import { randomUUID } from 'node:crypto';
import type { TransactionRecord, TransferBody } from '#local/client.ts';
import { NoAnswer } from '#local/client.ts';
import type { Person } from '#local/provision.ts';

/** What a client knows of a transfer that it has asked for. */
export interface Wish {
  /** Idempotency-Key, and note, so that it can be told from others in a list. */
  readonly key: string;
  readonly body: TransferBody;
  /** Null while no answer has come: it may exist or not. */
  id: string | null;
  /** Names of those whose approval was acknowledged. */
  readonly approvedBy: Set<string>;
}

/** Whether a request got an answer. What is thrown is only ever that there was none. */
async function answered<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof NoAnswer) return null;
    throw error;
  });
}

/** Creates a transfer and approves it as far as answers come. False when the service is gone. */
export async function wishAndApprove(signers: readonly Person[], body: TransferBody, wishes: Wish[]): Promise<boolean> {
  const key = randomUUID();
  const wish: Wish = { key, body: { ...body, note: key }, id: null, approvedBy: new Set() };
  wishes.push(wish);
  return (await ensureCreated(signers, wish)) && (await ensureApproved(signers, wish));
}

/** Asks again with the same key, as an integrator does who does not know. False when no answer came. */
export async function ensureCreated(signers: readonly Person[], wish: Wish): Promise<boolean> {
  const [creator] = signers;
  if (creator === undefined) throw new Error('somebody must create');
  const headers = { 'idempotency-key': wish.key };
  const asked = creator.client.ask<TransactionRecord>('POST', '/transaction/transfer', { body: wish.body, headers });
  const answer = await answered(asked);
  if (answer === null) return false;
  // 503 says that nothing is known to be changed: it is as good as no answer.
  if (answer.status === 503) return false;
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (wish.id !== null && wish.id !== answer.body.id) throw new Error(`the key ${wish.key} stands for two transfers`);
  wish.id = answer.body.id;
  return true;
}

/** Gives the voices that are not acknowledged yet. False when no answer came. */
export async function ensureApproved(signers: readonly Person[], wish: Wish): Promise<boolean> {
  for (const signer of signers) {
    if (wish.approvedBy.has(signer.name)) continue;
    const answer = await answered(signer.client.ask('POST', `/transaction/${wish.id}/approve`));
    if (answer === null || answer.status === 503) return false;
    if (answer.status !== 200) throw new Error(`approve answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    wish.approvedBy.add(signer.name);
  }
  return true;
}
