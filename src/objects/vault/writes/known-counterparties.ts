import type { Chain } from '#domain/asset/chain.ts';
import { findLookalike, shapeOf } from '#domain/activity/lookalike.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import type { Vault } from '#domain/vault.ts';
import { walletAddress } from '#domain/vault.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/** What somebody would have to imitate: whom the vault has paid, trusted or named before, and itself. By shape (domain/activity/lookalike.ts). */
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

/** What a vault knows of those who deal with it. */
export function knownCounterparties(storage: VaultStorage, vault: Vault, chain: Chain): KnownCounterparties {
  const like = similarAddresses(storage, vault, chain);
  return {
    isLookalike: (address) => findLookalike([address], like, null) !== null,
    hasSent: (tokenAddress) => storage.counterpartiesLike(shapeOf(tokenAddress)).includes(tokenAddress),
  };
}
