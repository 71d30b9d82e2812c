import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { Chain, KeyScheme } from '#domain/asset/chain.ts';
import { keySchemeOf } from '#domain/asset/chain.ts';
import type { Vault, VaultConfiguration, VaultKey } from '#domain/vault/vault.ts';
import { walletAddress } from '#domain/vault/vault.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';

/**
 * Returns the vault with a wallet on one more chain. The address follows from the existing key, or
 * comes with the key that is still being generated. Returns the same vault when it uses the chain
 * already.
 */
export function withChain(vault: Vault, chain: Chain): Vault {
  const { configuration, keys } = vault;
  if (configuration.chains.includes(chain.name)) return vault;
  const chains = [...configuration.chains, chain.name];
  return {
    ...vault,
    configuration: { ...configuration, chains },
    keys: keys.map((key) => addressed(key, chain, configuration)),
  };
}

/** An address of a vault. */
export interface Wallet {
  /** Canonical name. */
  readonly chain: string;
  readonly address: string;
}

/** Returns every wallet that has an address. */
export function walletsOf(vault: Vault): readonly Wallet[] {
  return vault.configuration.chains.flatMap((chain) => {
    const address = walletAddress(vault, chain);
    return address === null ? [] : [{ chain, address }];
  });
}

/**
 * Returns the vault with one more key, on every chain of the key that the vault uses now: some may
 * be new since the key generation began.
 */
export function withKey(vault: Vault, key: VaultKey, known: readonly Chain[]): Vault {
  const { configuration, keys } = vault;
  const whole = usedOf(vault, known).reduce((made, chain) => addressed(made, chain, configuration), key);
  return { ...vault, keys: [...keys, whole] };
}

/** Returns the schemes of the chains that a vault uses and has no key for. */
export function missingSchemes(vault: Vault, known: readonly Chain[]): readonly KeyScheme[] {
  const needed = new Set(usedOf(vault, known).map(({ family }) => keySchemeOf(family, vault.configuration)));
  return [...needed].filter((scheme) => !vault.keys.some((key) => key.scheme === scheme));
}

function usedOf({ configuration }: Vault, known: readonly Chain[]): readonly Chain[] {
  return known.filter(({ name }) => configuration.chains.includes(name));
}

/** Returns the key with its address on a chain that the vault uses it for. */
function addressed(key: VaultKey, chain: Chain, configuration: VaultConfiguration): VaultKey {
  const { scheme, addresses } = key;
  if (scheme !== keySchemeOf(chain.family, configuration) || chain.name in addresses) return key;
  const publicKey = walletKey({ scheme, publicKey: hexToBytes(key.publicKey) }, chain.caip2);
  const address = addressOn(chain.caip2, scheme, publicKey);
  if (address === null) throw new Error(`${chain.name} takes no signature of ${scheme}`);
  return { ...key, addresses: { ...addresses, [chain.name]: address } };
}
