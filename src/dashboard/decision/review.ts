import type { Person, Transaction } from '#dashboard/api.ts';
import { requestFor } from '#dashboard/approval/approval-request.ts';
import { Contradiction, Undecidable } from '#dashboard/decision/contradiction.ts';
import type { UnverifiedNote } from '#domain/access/approval-page-message.ts';
import type { DecisionTask } from '#dashboard/forms/signing-task.ts';
import type { VerifiedRequest } from '#review/verified-request.ts';

/** What a person decides about, as the approval page reads it, and what the service claims. */
export interface Review extends VerifiedRequest {
  /** Not verified: no signature binds them. */
  readonly remarks: readonly UnverifiedNote[];
}

/**
 * Returns what a decision is about, read from its own bytes and from the policy that they name. The
 * approval page shows the same words of the same bytes. The reader is loaded when it is needed.
 *
 * Throws `Contradiction` when the parts that the service sends do not belong together, and
 * `Undecidable` when the time for the decision is over.
 */
export async function reviewOf(task: DecisionTask, me: Person): Promise<Review> {
  const [request, { verifyRequest }, { InvalidRequest }, { InvalidDocument }] = await Promise.all([
    requestFor(task, { nonce: null, requestId: '', me }),
    import('#review/verified-request.ts'),
    import('#review/invalid-request.ts'),
    import('#domain/canonical/field-reader.ts'),
  ]);
  if (request.type !== 'conclave/approval/request') throw new Contradiction('The service sent another request.');
  try {
    const review = verifyRequest(request, Date.now(), { outdated: 'described' });
    if (!isAbout(review, task)) throw new InvalidRequest('The service shows something else than you opened.');
    return { ...review, remarks: request.remarks };
  } catch (error) {
    if (error instanceof InvalidRequest && error.kind !== 'contradiction') throw new Undecidable(error.message);
    if (error instanceof InvalidRequest || error instanceof InvalidDocument) throw new Contradiction(error.message);
    throw error;
  }
}

function isAbout({ subject }: VerifiedRequest, task: DecisionTask): boolean {
  switch (subject.kind) {
    case 'intent':
      return task.kind === 'transaction' && subject.intent.transactionId === task.txId;
    case 'change':
    case 'founding':
      return task.kind === 'policy-change' && subject.mandate.id === task.changeId;
    case 'transaction-rejection':
      return task.kind === 'transaction-rejection' && subject.rejection.transactionId === task.txId;
    case 'rejection':
      return task.kind === 'policy-rejection' && subject.rejection.changeId === task.changeId;
  }
}

/** A record that the page shows, and how to load it anew. */
export interface ShownRecord {
  readonly record: Transaction;
  readonly reload: () => Promise<Transaction>;
  readonly changed: (record: Transaction) => void;
}

/**
 * Returns the review of a transaction whose record the page shows. Throws `Contradiction` when the
 * record differs from the bytes: the page would deceive the person. A record or a policy that
 * changed between two answers of an honest service differs once, so both are loaded again first.
 */
export async function reviewOfRecord(
  task: DecisionTask,
  me: Person,
  { record, reload, changed }: ShownRecord,
): Promise<Review> {
  const [review, { differenceOf }] = await Promise.all([
    reviewOf(task, me),
    import('#dashboard/decision/record-difference.ts'),
  ]);
  if (differenceOf(record, review) === null) return review;
  const [fresh, again] = await Promise.all([reload(), reviewOf(task, me)]);
  const field = differenceOf(fresh, again);
  if (field !== null) {
    throw new Contradiction(`The service shows another ${field} than the transaction has that you would approve.`);
  }
  changed(fresh);
  return again;
}
