import type { ApprovalAnswer, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';
import { isDecline, nonceOfPageReady, parseApprovalAnswer } from '#domain/access/approval-page-message.ts';
import { parseRedirectResult } from '#domain/access/approval-redirect.ts';

/** Rejects a policy change. The reason is sent beside the signature; the approval page has none. */
export interface PolicyRejectionTask {
  readonly kind: 'policy-rejection';
  readonly vaultId: string;
  readonly changeId: string;
  /** One line. */
  readonly reason?: string;
}

/** Rejects a transaction, as `PolicyRejectionTask` rejects a policy change. */
export interface TransactionRejectionTask {
  readonly kind: 'transaction-rejection';
  readonly txId: string;
  /** One line. */
  readonly reason?: string;
}

/** The reason why a person opens the approval page. */
export type SigningTask =
  | { readonly kind: 'transaction'; readonly txId: string }
  | { readonly kind: 'policy-change'; readonly vaultId: string; readonly changeId: string }
  | PolicyRejectionTask
  | TransactionRejectionTask
  | { readonly kind: 'enrolment'; readonly vaultId: string }
  /** Reads the policy in force. There is no signature. */
  | { readonly kind: 'policy-view'; readonly vaultId: string };

/** A task that ends with a signature or a passkey. */
export type SignedTask = Exclude<SigningTask, { readonly kind: 'policy-view' }>;

/** A task that decides about something. */
export type DecisionTask = Exclude<SignedTask, { readonly kind: 'enrolment' }>;

/** The state of this tab while the browser is at the approval page. */
interface Waiting {
  /** A random id. An answer with another id is refused. */
  readonly requestId: string;
  /** The page of the dashboard that the person left. */
  readonly path: string;
  /** `nonce` until the approval page has returned its nonce, then `answer`. */
  readonly awaits: 'nonce' | 'answer';
  /** The origin of the approval page that the browser went to. */
  readonly page: string;
  readonly task: SigningTask;
}

/** What the approval page returned for the task of this tab. */
export type Returned =
  | {
      readonly kind: 'nonce';
      readonly nonce: string;
      readonly requestId: string;
      readonly page: string;
      readonly task: SigningTask;
    }
  | { readonly kind: 'answer'; readonly answer: ApprovalAnswer | EnrolmentAnswer; readonly task: SignedTask }
  | { readonly kind: 'fault'; readonly why: string };

/** The storage and the address bar of a tab. */
export interface Tab {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly fragment: string;
  /** Replaces the fragment in the address bar and in the history. */
  readonly show: (fragment: string) => void;
}

const KEY = 'conclave/approval-errand/v2';
const UNASKED = 'The approval page sent an answer that this tab did not request. Nothing was submitted.';

/**
 * Returns the answer of the approval page, or null when there is none: the browser does not return
 * from there, or the person has read a policy. The
 * answer is removed from the address bar and the history and is valid once. A reload finds nothing
 * to send.
 */
export function takeRedirectResult({ storage, fragment, show }: Tab): Returned | null {
  const returned = parseRedirectResult(fragment);
  if (returned === null) return null;
  const waiting = stored(storage);
  if (waiting?.requestId !== returned.requestId) {
    show('#/');
    return { kind: 'fault', why: UNASKED };
  }
  show(waiting.path);
  storage.removeItem(KEY);
  const { requestId, task, awaits, page } = waiting;
  const { message } = returned;
  if (isDecline(message, requestId) && task.kind === 'policy-view') return null;
  if (isDecline(message, requestId)) return { kind: 'fault', why: 'The approval page was closed without a signature.' };
  if (awaits === 'nonce') {
    const nonce = nonceOfPageReady(message);
    if (nonce === null) return { kind: 'fault', why: UNASKED };
    store(storage, { ...waiting, awaits: 'answer' });
    return { kind: 'nonce', nonce, requestId, page, task };
  }
  const answer = parseApprovalAnswer(message, requestId);
  return answer === null || task.kind === 'policy-view'
    ? { kind: 'fault', why: UNASKED }
    : { kind: 'answer', answer, task };
}

export function store(storage: Tab['storage'], { requestId, path, awaits, page, task }: Waiting): void {
  storage.setItem(KEY, [requestId, path, awaits, page, ...partsOf(task)].join('\n'));
}

function stored(storage: Tab['storage']): Waiting | null {
  const [requestId, path, awaits, page, ...parts] = (storage.getItem(KEY) ?? '').split('\n');
  const task = taskOf(parts);
  if (requestId === undefined || path === undefined || page === undefined || task === null) return null;
  return awaits === 'nonce' || awaits === 'answer' ? { requestId, path, awaits, page, task } : null;
}

function partsOf(task: SigningTask): readonly string[] {
  switch (task.kind) {
    case 'transaction':
      return [task.kind, task.txId];
    case 'transaction-rejection':
      return [task.kind, task.txId, ...(task.reason === undefined ? [] : [task.reason])];
    case 'policy-change':
      return [task.kind, task.vaultId, task.changeId];
    case 'policy-rejection':
      return [task.kind, task.vaultId, task.changeId, ...(task.reason === undefined ? [] : [task.reason])];
    case 'enrolment':
    case 'policy-view':
      return [task.kind, task.vaultId];
  }
}

function taskOf([kind, id, changeId, reason]: readonly string[]): SigningTask | null {
  if (id === undefined) return null;
  if (kind === 'transaction') return { kind, txId: id };
  if (kind === 'transaction-rejection')
    return { kind, txId: id, ...(changeId === undefined ? {} : { reason: changeId }) };
  if (kind === 'enrolment' || kind === 'policy-view') return { kind, vaultId: id };
  if (changeId === undefined) return null;
  if (kind === 'policy-change') return { kind, vaultId: id, changeId };
  if (kind !== 'policy-rejection') return null;
  return { kind, vaultId: id, changeId, ...(reason === undefined ? {} : { reason }) };
}
