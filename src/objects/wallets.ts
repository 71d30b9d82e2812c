import { hexToBytes } from '@noble/hashes/utils.js';
import { adapterFor } from '#chains/adapters.ts';
import type { Chain, KeyScheme } from '#domain/chain.ts';
import { keySchemeOf } from '#domain/chain.ts';
import type { Vault, VaultKey } from '#domain/vault.ts';
import { walletAddress } from '#domain/vault.ts';
import { walletKey } from '#mpc/derivation.ts';

/**
 * The vault with a wallet on one more chain: the address follows from the key that it has, and comes with the key where that is still
 * being made. The same vault when it uses the chain already.
 */
export function withChain(vault: Vault, chain: Chain): Vault {
  const { configuration, keys } = vault;
  if (configuration.chains.includes(chain.name)) return vault;
  const chains = [...configuration.chains, chain.name];
  return { ...vault, configuration: { ...configuration, chains }, keys: keys.map((key) => addressed(key, chain)) };
}

/** An address of a vault. */
export interface Wallet {
  /** Canonical name. */
  readonly chain: string;
  readonly address: string;
}

/** Every wallet that has an address by now. */
export function walletsOf(vault: Vault): readonly Wallet[] {
  return vault.configuration.chains.flatMap((chain) => {
    const address = walletAddress(vault, chain);
    return address === null ? [] : [{ chain, address }];
  });
}

/** The vault with one key more, on every chain of it that it uses by now: some may have come while the key was being made. */
export function withKey(vault: Vault, key: VaultKey, known: readonly Chain[]): Vault {
  return { ...vault, keys: [...vault.keys, usedOf(vault, known).reduce(addressed, key)] };
}

/** The schemes of the chains that a vault uses and has no key for. */
export function lackingSchemes(vault: Vault, known: readonly Chain[]): readonly KeyScheme[] {
  const needed = new Set(usedOf(vault, known).map(({ family }) => keySchemeOf(family)));
  return [...needed].filter((scheme) => !vault.keys.some((key) => key.scheme === scheme));
}

function usedOf({ configuration }: Vault, known: readonly Chain[]): readonly Chain[] {
  return known.filter(({ name }) => configuration.chains.includes(name));
}

/** The key with its address on a chain of its scheme. */
function addressed(key: VaultKey, chain: Chain): VaultKey {
  if (key.scheme !== keySchemeOf(chain.family) || chain.name in key.addresses) return key;
  const publicKey = walletKey({ scheme: key.scheme, publicKey: hexToBytes(key.publicKey) }, chain.caip2);
  const address = adapterFor(chain, []).addressOf(publicKey);
  return { ...key, addresses: { ...key.addresses, [chain.name]: address } };
}
