import { domain, type Bug } from '../bug.ts';

/** Bugs by which one member blocks a vault: vetoes changes, fills queues, or keeps a person out. */
export const MEMBER_BUGS: readonly Bug[] = [
  {
    name: 'one rejection ends a policy change',
    file: 'src/domain/policy/policy-change.ts',
    was: "const state = canAdopt(remaining, change, current) ? 'PENDING' : 'REJECTED';",
    is: "const state = canAdopt([], change, current) || remaining.length < 0 ? 'PENDING' : 'REJECTED';",
    caughtBy: domain('policy/rejections'),
  },
  {
    name: 'a signer rejects the own removal',
    file: 'src/domain/policy/policy-change.ts',
    was: 'return canAdopt(remaining, change, current) ? remaining : current.signers;',
    is: 'return canAdopt(remaining, change, current) ? current.signers : current.signers;',
    caughtBy: domain('policy/rejections'),
  },
  {
    name: 'a change of 2 of 2 that removes a signer can never be adopted',
    file: 'src/domain/policy/policy-change.ts',
    was: 'return canAdopt(remaining, change, current) ? remaining : current.signers;',
    is: 'return remaining;',
    caughtBy: domain('policy/rejections'),
  },
  {
    name: 'an approval that its signer withdrew still counts',
    file: 'src/domain/policy/policy-change.ts',
    was: 'const approvals = without(change.approvals, event.actor);',
    is: 'const { approvals } = change;',
    caughtBy: domain('policy/rejections'),
  },
  {
    name: 'a change stays pending although no signer with the required device remains',
    file: 'src/domain/policy/policy-change.ts',
    was: 'signers.includes(userId) && isRequiredDevice(keyId, current)',
    is: 'userId.length > 0 && isRequiredDevice(keyId, current)',
    caughtBy: domain('policy/rejections'),
  },
  {
    name: 'a signer who cannot approve a renewal rejects it',
    file: 'src/domain/policy/policy-change.ts',
    was: "return hasPermission(member, 'decide') && mayApprove(member, change, decider);",
    is: "return hasPermission(member, 'decide') || mayApprove(member, change, decider);",
    caughtBy: ['test/objects/vault/writes/mandate-renewal.test.ts'],
  },
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
