import { randomUUID } from 'node:crypto';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { NoAnswer } from '#cli/api-client.ts';
import type { Person } from '#local/stack/provision.ts';

/** What a client knows of a transfer that it has asked for. */
export interface PaymentRequest {
  /** Idempotency-Key, and note, so that it can be told from others in a list. */
  readonly key: string;
  readonly body: TransferBody;
  /** Null while no answer has come: it may exist or not. */
  id: string | null;
  /** Names of those whose approval was acknowledged. */
  readonly approvedBy: Set<string>;
}

/** Whether a request got an answer. What is thrown is only ever that there was none. */
async function answered<T>(response: Promise<T>): Promise<T | null> {
  return response.catch((error: unknown) => {
    if (error instanceof NoAnswer) return null;
    throw error;
  });
}

/** How far an order came: `unavailable`, the service has said that it can not now; `gone`, nobody has said anything. */
export type Reach = 'done' | 'unavailable' | 'gone';

/** Creates a transfer and approves it as far as answers come. */
export async function createAndApprove(
  signers: readonly Person[],
  body: TransferBody,
  payments: PaymentRequest[],
): Promise<Reach> {
  const key = randomUUID();
  const payment: PaymentRequest = { key, body: { ...body, note: key }, id: null, approvedBy: new Set() };
  payments.push(payment);
  return ensure(signers, payment);
}

/** Asks for whatever of it is not acknowledged yet. */
export async function ensure(signers: readonly Person[], payment: PaymentRequest): Promise<Reach> {
  const created = await ensureCreated(signers, payment);
  return created === 'done' ? ensureApproved(signers, payment) : created;
}

/** Asks again with the same key, as an integrator does who does not know. */
async function ensureCreated(signers: readonly Person[], payment: PaymentRequest): Promise<Reach> {
  const [creator] = signers;
  if (creator === undefined) throw new Error('somebody must create');
  const headers = { 'idempotency-key': payment.key };
  const response = creator.client.request<TransactionRecord>('POST', '/transaction/transfer', {
    body: payment.body,
    headers,
  });
  const answer = await answered(response);
  if (answer === null) return 'gone';
  // It says that nothing is known to be changed: as good as no answer, but somebody is there.
  if (answer.status === 503) return 'unavailable';
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (payment.id !== null && payment.id !== answer.body.id)
    throw new Error(`the key ${payment.key} stands for two transfers`);
  payment.id = answer.body.id;
  return 'done';
}

/** Gives the voices that are not acknowledged yet. */
async function ensureApproved(signers: readonly Person[], payment: PaymentRequest): Promise<Reach> {
  for (const signer of signers) {
    if (payment.approvedBy.has(signer.name)) continue;
    const answer = await answered(signer.client.request('POST', `/transaction/${payment.id}/approve`));
    if (answer === null) return 'gone';
    if (answer.status === 503) return 'unavailable';
    if (answer.status !== 200) throw new Error(`approve answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    payment.approvedBy.add(signer.name);
  }
  return 'done';
}
