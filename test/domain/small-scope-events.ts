import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Actor } from '#domain/access/approval.ts';
import { alice, bob, carol, DIGEST, inclusion, policy, PREPARED } from './cast.ts';

/** The events of the exploration in small-scope.test.ts, one object for each. */

export const PEOPLE: readonly Actor[] = [alice, bob, carol];
export const WITHOUT_CAROL = { ...policy, version: 2, signers: [alice.userId, bob.userId] };
export const DEPTHS = [1, 3, 'final'] as const;
export type Depth = (typeof DEPTHS)[number];

const DEEP_ENOUGH = 3;

const hashOf = (attempt: number) => `0x${String(attempt).padStart(64, '0')}`;

/** Returns a function that makes the event of an attempt once. Decisions are cached by event. */
function ofAttempt(eventOf: (attempt: number) => TransactionEvent): (attempt: number) => TransactionEvent {
  const made = new Map<number, TransactionEvent>();
  return (attempt) => valueOf(made, attempt, () => eventOf(attempt));
}

export const APPROVALS = PEOPLE.map((actor): TransactionEvent => ({
  type: 'approve',
  actor,
  device: null,
  digest: DIGEST,
}));
export const REJECT: TransactionEvent = { type: 'reject', actor: bob, device: null };
export const CANCEL: TransactionEvent = { type: 'cancel', actor: alice };
export const CANCEL_UNSIGNED: TransactionEvent = { type: 'cancelUnsigned' };
export const SPEED_UP: TransactionEvent = { type: 'speedUp', actor: alice };
export const EXPIRE: TransactionEvent = { type: 'expire' };
export const DROP_APPROVALS: TransactionEvent = { type: 'dropVotes', policy: WITHOUT_CAROL, disabledAccess: [] };
export const MISS: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };
export const SETTLE: TransactionEvent = { type: 'settle' };
export const PREPARE = {
  intent: { type: 'prepare', attempt: { ...PREPARED, purpose: 'intent' } },
  cancellation: { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } },
} as const;
export const sign = ofAttempt((attempt) => ({ type: 'sign', attempt, raw: `0x${attempt}`, hash: hashOf(attempt) }));
const sentWith = (outcome: 'unknown' | 'accepted' | 'underpriced') =>
  ofAttempt((attempt) => ({ type: 'send', attempt, outcome, answer: null }));
export const [sendUnknown, sendAccepted, sendUnderpriced] = [
  sentWith('unknown'),
  sentWith('accepted'),
  sentWith('underpriced'),
];
export const refuse = ofAttempt((attempt) => ({ type: 'refuseBroadcast', attempt, answer: 'no' }));
export const refuseAll = ofAttempt((attempt) => ({
  type: 'refuseBroadcast',
  attempt,
  answer: 'no',
  blocksOthers: true,
}));
const includedWith = (depth: Depth) => ofAttempt((attempt) => included({ attempt, depth }));
export const includedAt = { 1: includedWith(1), 3: includedWith(3), final: includedWith('final') };

/** The reports of consumers that depend on nothing the consumers have read. */
export const REPORTS: readonly TransactionEvent[] = [
  { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' },
  { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null },
  { type: 'fillNonce', reason: 'SIGNERS_REFUSED', detail: null },
  CANCEL_UNSIGNED,
  { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' },
  { type: 'miss', inMempool: true, nonceTaken: false },
  SETTLE,
  { type: 'waitForNonce', blocker: { transactionId: null } },
  { type: 'waitForNonce', blocker: null },
];

function included({ attempt, depth }: { readonly attempt: number; readonly depth: Depth }): TransactionEvent {
  const confirmations = depth === 1 ? 1 : depth === 3 ? DEEP_ENOUGH : 64;
  const found = inclusion({ hash: hashOf(attempt), confirmations, finalized: depth === 'final' });
  return { type: 'include', inclusion: found, confirmationsNeeded: DEEP_ENOUGH };
}

/** Returns the value of a key, which is made once. */
export function valueOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
