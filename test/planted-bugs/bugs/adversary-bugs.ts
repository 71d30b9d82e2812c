import { type Bug, ADVERSARY } from '../bug.ts';

/**
 * Bugs that remove one defence each. The random attackers of test/adversary find the attack without
 * a prepared script.
 */
export const ADVERSARY_BUGS: readonly Bug[] = [
  {
    name: 'games: a policy without a mandate is pinned at key generation (2.1)',
    file: 'src/cosigner/policy/policy-chain.ts',
    was: "    if (!isNext) return refused(refusal('malformed', 'policies'));\n",
    is: '',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a superseded policy judges every cancellation (2.2)',
    file: 'src/cosigner/policy/approval-check.ts',
    was: "if (fault === null || request.purpose !== 'cancellation' || !isRecorded) return fault;",
    is: "if (fault === null || request.purpose !== 'cancellation' || digest === String(isRecorded)) return fault;",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a row that others attested opens a cancellation (F4)',
    file: 'src/cosigner/storage.ts',
    was: 'row.intentDigest === intentDigest && !attested.has(row.attempt)',
    is: 'row.intentDigest === intentDigest && attested.size >= 0',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: no co-signer requires receipts (2.3)',
    file: 'src/domain/policy/policy.ts',
    was: "return policy?.rules.signOnce === 'every-cosigner';",
    is: "return String(policy?.rules.signOnce) === 'never';",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: P2WPKH has one key on all networks (2.4)',
    file: 'src/mpc/derivation.ts',
    was: "if (scheme === 'ecdsa-secp256k1' && !isBitcoinTestNetwork(chain)) return null;",
    is: "if (scheme === 'ecdsa-secp256k1') return null;",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: the policy in force is no part of a session (2.7)',
    file: 'src/cosigner/session/signing-request.ts',
    was: "    ['policyVersion', String(policy.version)],\n    ['policyHash', policyHashOf(policy)],\n",
    is: "    ['policyVersion', String(policy.vaultId)],\n",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: an expired mandate is adopted (2.8)',
    file: 'src/cosigner/policy/policy-chain.ts',
    was: 'return nowMs >= expiresAtMs || isAhead',
    is: 'return isAhead',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a co-signer pays any fee (2.9)',
    file: 'src/cosigner/policy/approval-check.ts',
    was: "  if (isTooDear(intent, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));\n",
    is: '',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a fee counts into no limit (2.9)',
    file: 'src/domain/policy/rules.ts',
    was: 'const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) : 0n;',
    is: 'const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) * 0n : 0n;',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a limit in another spelling is adopted (2.10)',
    file: 'src/cosigner/signed-document.ts',
    was: 'isCanonicalAsset(chain, tokenAddress)',
    is: 'isKnownChain(chain)',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a statement for another nonce is believed (2.7)',
    file: 'src/domain/policy/statement.ts',
    was: "  if (statement.nonce !== request.nonce) return 'other-nonce';\n",
    is: '',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a statement of any age is believed (2.7)',
    file: 'src/domain/policy/statement.ts',
    was: "return Math.abs(request.nowMs - statement.issuedAtMs) > STATEMENT_TTL_MS ? 'too-old' : null;",
    is: "return request.nowMs < 0 ? 'too-old' : null;",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a statement about another key is believed (2.7)',
    file: 'src/domain/policy/statement.ts',
    was: "  if (statement.keyId !== request.keyId) return 'other-key';\n",
    is: '',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a co-signer of which nothing is known agrees (2.7)',
    file: 'src/devices/cosigner-agreement.ts',
    was: "agreements.filter(({ agreement }) => agreement !== 'agrees');",
    is: "agreements.filter(({ agreement }) => agreement !== 'agrees' && agreement !== 'unknown');",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a co-signer that disagrees stops no device (2.7)',
    file: 'src/devices/cosigner-agreement.ts',
    was: 'accepted(exceptions);',
    is: "accepted(exceptions.filter(({ agreement }) => agreement === 'unknown'));",
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: a statement needs no signature (2.7)',
    file: 'src/devices/statement.ts',
    was: "  if (!isSignedBy(pin, delivered)) return unknown('bad-signature');\n",
    is: '',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: t - 1 co-signers that agree are enough (2.7)',
    file: 'src/devices/cosigner-agreement.ts',
    was: 'agreements.length - exceptions.length < threshold',
    is: 'agreements.length - exceptions.length < threshold - 1',
    caughtBy: ADVERSARY,
  },
  {
    name: 'games: pins follow a policy that no quorum has approved (2.7)',
    file: 'src/devices/policy-links.ts',
    was: "if ((await successionFault(current, policy, mandate)) !== null) return refused('unproven-pins');",
    is: 'await successionFault(current, policy, mandate);',
    caughtBy: ADVERSARY,
  },
];
