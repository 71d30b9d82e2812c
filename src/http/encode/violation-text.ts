import type { AssetRef } from '#domain/asset/exposure.ts';
import { unreachable } from '#domain/result.ts';
import type { RuleViolation } from '#domain/policy/rules.ts';

/** Returns a readable text for the rule that a transaction violates. */
export function violationText(breach: RuleViolation): string {
  switch (breach.rule) {
    case 'unreadable':
      return 'The policy does not allow blind signing, and the effect of this call or typed data cannot be determined.';
    case 'unbound-message':
      return (
        'The policy does not allow messages whose signature names no chain. This signature would be valid on every ' +
        'chain.'
      );
    case 'max-fee':
      return `The policy allows a fee of at most ${breach.limit}. This transaction may pay ${breach.amount}.`;
    case 'address-book':
      return breach.address === null
        ? 'The policy allows only recipients in the address book, and the recipient cannot be determined.'
        : `The policy allows only recipients in the address book. ${breach.address} is not in it.`;
    case 'per-transaction':
      return (
        `The per-transaction limit is ${breach.limit} of ${assetText(breach.asset)}. This transaction spends ` +
        `${breach.amount}.`
      );
    case 'per-day':
      return (
        `The daily limit is ${breach.limit} of ${assetText(breach.asset)} within 24 hours. ` +
        `Already committed: ${breach.spent}. Requested: ${breach.amount}.`
      );
    default:
      return unreachable(breach);
  }
}

function assetText({ chain, tokenAddress }: AssetRef): string {
  return `${tokenAddress ?? 'the native asset'} on ${chain}`;
}
