import { randomUUID } from 'node:crypto';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { NoAnswer } from '#cli/api-client.ts';
import type { Person } from '#local/stack/provision.ts';

/** What a client knows of a transfer that it has requested. */
export interface PaymentRequest {
  /** Idempotency-Key, and also the note, so that a list shows which transfer it is. */
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

/**
 * How far a payment request came: `unavailable`, the service has answered that it cannot serve it
 * now; `gone`, there was no answer.
 */
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

/** Requests each step of the payment that is not acknowledged yet. */
export async function ensure(signers: readonly Person[], payment: PaymentRequest): Promise<Reach> {
  const created = await ensureCreated(signers, payment);
  return created === 'done' ? ensureApproved(signers, payment) : created;
}

/** Requests it again with the same key, as an integrator without an answer does. */
async function ensureCreated(signers: readonly Person[], payment: PaymentRequest): Promise<Reach> {
  const [creator] = signers;
  if (creator === undefined) throw new Error('the payment has no creator');
  const headers = { 'idempotency-key': payment.key };
  const response = creator.client.request<TransactionRecord>('POST', '/transaction/transfer', {
    body: payment.body,
    headers,
  });
  const answer = await answered(response);
  if (answer === null) return 'gone';
  // The answer leaves open whether anything has changed: as good as no answer, but the service
  // runs.
  if (answer.status === 503) return 'unavailable';
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (payment.id !== null && payment.id !== answer.body.id)
    throw new Error(`the key ${payment.key} stands for two transfers`);
  payment.id = answer.body.id;
  return 'done';
}

/** Gives the approvals that are not acknowledged yet. */
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
