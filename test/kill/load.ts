import { randomUUID } from 'node:crypto';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { NoAnswer } from '#cli/api-client.ts';
import type { Person } from '#local/stack/provision.ts';

/** A client's record of a transfer that it has requested. */
export interface PaymentRequest {
  /**
   * The Idempotency-Key. It is also the note, so that a list of transactions shows which transfer
   * it is.
   */
  readonly key: string;
  readonly body: TransferBody;
  /**
   * The transaction id; null while no answer has arrived, when the transaction may or may not
   * exist.
   */
  id: string | null;
  /** The names of the signers whose approval was acknowledged. */
  readonly approvedBy: Set<string>;
}

/** Returns the answer to a request, or null when the client throws because no answer arrived. */
async function answered<T>(response: Promise<T>): Promise<T | null> {
  return response.catch((error: unknown) => {
    if (error instanceof NoAnswer) return null;
    throw error;
  });
}

/**
 * The progress of a payment request: `unavailable` when the service answered that it cannot serve
 * it now, `gone` when there was no answer.
 */
export type Reach = 'done' | 'unavailable' | 'gone';

/** Creates a transfer and approves it as far as answers arrive. */
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

/** Requests the transfer with the same key each time, as an integrator without an answer does. */
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
  // Status 503 does not state whether anything has changed. It is treated as no answer, except that
  // the service runs.
  if (answer.status === 503) return 'unavailable';
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  if (payment.id !== null && payment.id !== answer.body.id)
    throw new Error(`the key ${payment.key} stands for two transfers`);
  payment.id = answer.body.id;
  return 'done';
}

/** Sends the approvals that are not acknowledged yet. */
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
