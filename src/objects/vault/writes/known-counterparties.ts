import { impersonatedSymbol } from '#chains/inspect/token-impersonation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { findLookalike, shapeOf } from '#domain/activity/lookalike.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import { policyToken, policyTokensOn } from '#domain/policy/optional-rules.ts';
import { nameOf } from '#domain/policy/rules.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { walletAddress } from '#domain/vault/vault.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/**
 * Returns the addresses that an attacker would imitate: those that the vault has paid, given an
 * allowance or named before, and its own. They are found by shape (domain/activity/lookalike.ts).
 */
export function similarAddresses(
  storage: VaultStorage,
  vault: Vault,
  chain: Chain,
): (shape: string) => readonly string[] {
  const named = vault.policy.rules.addressBook.filter((entry) => entry.chain === chain.caip2);
  const wallet = walletAddress(vault, chain.name);
  const known = [...(wallet === null ? [] : [wallet]), ...named.map(({ address }) => address)];
  return (shape) => [...storage.counterpartiesLike(shape), ...known.filter((address) => shapeOf(address) === shape)];
}

/** Returns what a vault knows of its counterparties. */
export function knownCounterparties(storage: VaultStorage, vault: Vault, chain: Chain): KnownCounterparties {
  const like = similarAddresses(storage, vault, chain);
  const adopted = policyTokensOn(vault.policy.rules, chain.caip2).map(({ symbol }) => symbol);
  return {
    isLookalike: (address) => findLookalike([address], like, null) !== null,
    hasSent: (tokenAddress) => storage.counterpartiesLike(shapeOf(tokenAddress)).includes(tokenAddress),
    hasAdopted: (tokenAddress) => policyToken(vault.policy.rules, chain.caip2, tokenAddress) !== null,
    imitatesAdopted: (symbol) => impersonatedSymbol(symbol, adopted) !== null,
    isNamed: (address) => nameOf(vault.policy.rules, chain.caip2, address) !== null,
    isShown: (tokenAddress) => storage.balances.showsToken(chain.name, tokenAddress),
    shownTokens: () => storage.balances.shownTokens(chain.name),
  };
}
