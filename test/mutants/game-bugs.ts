import { type Bug, GAMES } from './bug.ts';

/** One defence taken out at a time: the random attackers of test/games find the attack by themselves. */
export const GAME_BUGS: readonly Bug[] = [
  {
    name: 'games: a policy without a mandate is pinned at key generation (2.1)',
    file: 'src/cosigner/policy-chain.ts',
    was: "    if (!isNext) return refused(refusal('malformed', 'policies'));\n",
    is: '',
    caughtBy: GAMES,
  },
  {
    name: 'games: a superseded policy judges every cancellation (2.2)',
    file: 'src/cosigner/approval-check.ts',
    was: "if (fault === null || request.purpose !== 'cancellation' || !isRecorded) return fault;",
    is: "if (fault === null || request.purpose !== 'cancellation' || digest === String(isRecorded)) return fault;",
    caughtBy: GAMES,
  },
  {
    name: 'games: no co-signer asks for receipts (2.3)',
    file: 'src/cosigner/receipt.ts',
    was: "return rules.signOnce === 'every-cosigner';",
    is: "return String(rules.signOnce) === 'never';",
    caughtBy: GAMES,
  },
  {
    name: 'games: P2WPKH has one key on all networks (2.4)',
    file: 'src/mpc/derivation.ts',
    was: "if (scheme === 'ecdsa-secp256k1' && !isBitcoinTestNetwork(chain)) return null;",
    is: "if (scheme === 'ecdsa-secp256k1') return null;",
    caughtBy: GAMES,
  },
  {
    name: 'games: the policy in force is no part of a session (2.7)',
    file: 'src/cosigner/signing-request.ts',
    was: "    ['policyVersion', String(policy.version)],\n    ['policyHash', policyHashOf(policy)],\n",
    is: "    ['policyVersion', String(policy.vaultId)],\n",
    caughtBy: GAMES,
  },
  {
    name: 'games: an expired mandate is adopted (2.8)',
    file: 'src/cosigner/policy-chain.ts',
    was: 'return nowMs >= mandate.expiresAtMs;',
    is: 'return nowMs < mandate.createdAtMs;',
    caughtBy: GAMES,
  },
  {
    name: 'games: a co-signer pays any fee (2.9)',
    file: 'src/cosigner/approval-check.ts',
    was: "  if (isTooDear(intent, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));\n",
    is: '',
    caughtBy: GAMES,
  },
  {
    name: 'games: a fee counts into no limit (2.9)',
    file: 'src/domain/rules.ts',
    was: 'const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) : 0n;',
    is: 'const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) * 0n : 0n;',
    caughtBy: GAMES,
  },
  {
    name: 'games: a limit in another spelling is adopted (2.10)',
    file: 'src/cosigner/sent-policy.ts',
    was: "  if (!isCanonicalAsset(asset.chain, asset.tokenAddress)) throw new Malformed('asset');\n",
    is: '',
    caughtBy: GAMES,
  },
];
