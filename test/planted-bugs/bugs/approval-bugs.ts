import { domain, type Bug } from '../bug.ts';

/**
 * Bugs in approvals: one person counts twice, or an approval counts after expiry, for another
 * intent, or from a former signer.
 */
export const APPROVAL_BUGS: readonly Bug[] = [
  {
    name: 'two tokens of one person are two approvals',
    file: 'src/domain/policy/counted-approvals.ts',
    was: 'return new Set(countedApprovals(digest, approvals, policy).map(({ actor }) => actor.userId));',
    is: 'return new Set(countedApprovals(digest, approvals, policy).map(({ actor }) => `${actor.userId}${actor.tokenId}` as never));',
    caughtBy: ['test/domain/transaction/transition.test.ts', 'test/cosigner/policy/approval-check.test.ts'],
  },
  {
    name: 'an approval of other bytes counts',
    file: 'src/domain/policy/counted-approvals.ts',
    was: 'approval.digest === digest && countsUnder(approval, policy)',
    is: 'countsUnder(approval, policy)',
    caughtBy: ['test/cosigner/policy/approval-check.test.ts'],
  },
  {
    name: 'lowering the threshold approves what waits',
    file: 'src/domain/transaction/approvals.ts',
    was: 'const threshold = Math.max(thresholdThen, thresholdFor(now, exposure));',
    is: 'const threshold = thresholdFor(now, exposure);',
    caughtBy: ['test/domain/transaction/transition.test.ts', 'test/cosigner/policy/approval-check.test.ts'],
  },
  {
    name: 'a look-alike needs no further approval',
    file: 'src/domain/transaction/approvals.ts',
    was: 'return requiresExtraApproval(intent) ? Math.max(threshold, Math.min(threshold + 1, now.signers.length)) : threshold;',
    is: 'return threshold;',
    caughtBy: [
      'test/cosigner/policy/approval-check.test.ts',
      'test/domain/activity/lookalike.test.ts',
      'test/domain/transaction/transition.test.ts',
    ],
  },
  {
    name: 'an approval counts at the moment of the expiry',
    file: 'src/domain/transaction/transition.ts',
    was: 'if (nowMs >= transaction.intent.expiresAtMs) return { code:',
    is: 'if (nowMs > transaction.intent.expiresAtMs) return { code:',
    caughtBy: domain('transaction/transition'),
  },
  {
    name: 'an approval of another intent is accepted',
    file: 'src/domain/transaction/transition.ts',
    was: "if (event.digest !== transaction.digest) throw new Error('an approval is not for the digest of its transaction');",
    is: '',
    caughtBy: domain('transaction/transition'),
  },
  {
    name: 'where devices sign, an approval without a signature is accepted',
    file: 'src/domain/transaction/transition.ts',
    was: "if (lacksDeviceSignature(event, policy)) return { code: 'device-signature-required' };",
    is: '',
    caughtBy: ['test/domain/access/device.test.ts', 'test/domain/transaction/transition.test.ts'],
  },
  {
    name: 'the limit of a day does not bind the last approval',
    file: 'src/domain/transaction/transition.ts',
    was: "if (overspent !== null) return { code: 'policy-forbids', breach: overspent };",
    is: '',
    caughtBy: ['test/domain/policy/rules.test.ts', 'test/domain/transaction/transition.test.ts'],
  },
  {
    name: 'what was rejected can still be approved',
    file: 'src/domain/transaction/transition.ts',
    was: 'REJECTED: { setVisibility },',
    is: 'REJECTED: { approve, setVisibility },',
    caughtBy: domain('transaction/transition-matrix'),
  },
  {
    name: 'the approval of a removed signer stays',
    file: 'src/objects/vault/commands/policy.ts',
    was: 'if (after !== vault) dropStaleApprovals(context, after);',
    is: '',
    caughtBy: ['test/objects/vault/object.worker.test.ts'],
  },
  {
    name: 'recipients: a token goes to its own contract unasked',
    file: 'src/objects/vault/writes/creation-check.ts',
    was: "if (isUnacknowledgedToken(action, chain)) return refused({ code: 'recipient-is-token', address: action.to });",
    is: '',
    caughtBy: ['test/http/transaction/odd-recipient.worker.test.ts'],
  },
  {
    name: 'a signature that comes after the cancellation is stored',
    file: 'src/domain/transaction/transition.ts',
    was: "if (isCancelledUnsigned(transaction) && newest.purpose === 'intent') return null;",
    is: '',
    caughtBy: domain('transaction/exit-from-signing'),
  },
  {
    name: 'a cancelled payment leaves its nonce below others',
    file: 'src/jobs/signing/nonce-allocation.ts',
    was: 'if (!(await allocator.reserveRelease({ transactionId: id }))) return false;',
    is: '',
    caughtBy: ['test/attacks/network/payment-without-exit.worker.test.ts'],
  },
  {
    name: 'recipients: the record does not know the listed tokens',
    file: 'src/http/encode/transaction.ts',
    was: 'warningsOf(intent, scope.chain?.tokens ?? [])',
    is: 'warningsOf(intent)',
    caughtBy: ['test/http/transaction/odd-recipient.worker.test.ts'],
  },
  {
    name: 'recipients: the approval page does not know the listed tokens',
    file: 'src/review/describe-intent.ts',
    was: 'warningsOf(intent, knownChain(intent.chain)?.tokens ?? [])',
    is: 'warningsOf(intent)',
    caughtBy: ['test/review/describe.test.ts'],
  },
  {
    name: 'recipients: an acknowledgement fits any recipient',
    file: 'src/chains/evm/rules/call.ts',
    was: ' || to !== tokenAddress)) return null;',
    is: ')) return null;',
    caughtBy: ['test/chains/evm/rules/call.test.ts'],
  },
  {
    name: 'recipients: an account with delegated code is a contract',
    file: 'src/chains/evm/client/contracts.ts',
    was: ' && !DELEGATED.test(code.value)',
    is: '',
    caughtBy: ['test/chains/evm/client/contracts.test.ts'],
  },
];
