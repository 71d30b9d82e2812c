import { domain, type Bug } from '../bug.ts';

/** Bugs by which one member blocks a vault: fills queues, or keeps a person out. */
export const MEMBER_BUGS: readonly Bug[] = [
  {
    name: 'one person fills the queue of policy changes',
    file: 'src/domain/policy/pending-changes.ts',
    was: 'own.length > MAX_OWN_PENDING_CHANGES',
    is: 'own.length > 10 * MAX_OWN_PENDING_CHANGES',
    caughtBy: domain('policy/pending-changes'),
  },
  {
    name: 'a full queue holds up the removal of a signer',
    file: 'src/domain/policy/pending-changes.ts',
    was: 'if (!counted.includes(candidate)) return null;',
    is: 'if (!all.includes(candidate)) return null;',
    caughtBy: domain('policy/pending-changes'),
  },
  {
    name: 'one person proposes removals without end',
    file: 'src/domain/policy/pending-changes.ts',
    was: 'own.some(({ policy }) => !policy.signers.includes(userId))',
    is: 'own.some(({ policy }) => !policy.signers.includes(userId) && policy.version < 0)',
    caughtBy: domain('policy/pending-changes'),
  },
  {
    name: 'one person fills the queue of transactions',
    file: 'src/objects/vault/writes/creation-check.ts',
    was: 'if (storage.pending.createdBy(actor.userId) >= ownLimit) {',
    is: 'if (storage.pending.createdBy(actor.userId) > 10 * ownLimit) {',
    caughtBy: ['test/attacks/member/fills-queues.worker.test.ts'],
  },
  {
    name: 'one member cancels every credential reset of a person',
    file: 'src/objects/person/object.ts',
    was: 'if (refusal !== null) return refused(refusal);\n    const cancelled',
    is: 'if (refusal !== null && nowMs < 0) return refused(refusal);\n    const cancelled',
    caughtBy: ['test/attacks/member/cancels-every-reset.worker.test.ts'],
  },
  {
    name: 'a person cancels only one own credential reset within 90 days',
    file: 'src/domain/access/reset-cancellation.ts',
    was: 'if (cancellation.userId === userId || lastCancelledAtMs === null) return null;',
    is: 'if (cancellation.userId.length < userId.length || lastCancelledAtMs === null) return null;',
    caughtBy: ['test/domain/access/reset-cancellation.test.ts'],
  },
];
