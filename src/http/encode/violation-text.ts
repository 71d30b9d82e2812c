import type { AssetRef } from '#domain/transaction/exposure.ts';
import { unreachable } from '#domain/result.ts';
import type { RuleViolation } from '#domain/policy/rules.ts';

/** What a rule has against a transaction, for people. */
export function violationText(breach: RuleViolation): string {
  switch (breach.rule) {
    case 'unreadable':
      return 'The policy refuses what no standard explains, and nobody can say what this call or typed data moves.';
    case 'unbound-message':
      return 'The policy refuses messages whose signature names no chain: this one would be valid on every chain.';
    case 'max-fee':
      return `The policy allows a fee of at most ${breach.limit}; this transaction may pay ${breach.amount}.`;
    case 'address-book':
      return breach.address === null
        ? 'Only addresses of the address book may get anything, and nobody can say who this is for.'
        : `Only addresses of the address book may get anything, and ${breach.address} is not in it.`;
    case 'per-transaction':
      return `One transaction moves at most ${breach.limit} of ${assetText(breach.asset)}; this one moves ${breach.amount}.`;
    case 'per-day':
      return (
        `Within 24 hours at most ${breach.limit} of ${assetText(breach.asset)} are spent; ` +
        `${breach.spent} are decided already, and this takes ${breach.amount}.`
      );
    default:
      return unreachable(breach);
  }
}

function assetText({ chain, tokenAddress }: AssetRef): string {
  return `${tokenAddress ?? 'the native asset'} on ${chain}`;
}
