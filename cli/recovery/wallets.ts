import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { isCanonicalAddress, isKnownChain } from '#chains/inspect/canonical-spelling.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { UsageError } from '../command-line.ts';

/** The wallets that a person expects: chains by their CAIP-2 names, and addresses on them. */
export interface ExpectedWallets {
  readonly chains: readonly string[];
  readonly addresses: readonly string[];
}

/**
 * Returns the wallets of a command line. Throws `UsageError` for an unknown chain, and for an
 * address that no chain of the list writes like this.
 */
export function expectedWallets(chains: readonly string[] = [], addresses: readonly string[] = []): ExpectedWallets {
  for (const chain of chains)
    if (!isKnownChain(chain)) throw new UsageError(`${chain} is not the CAIP-2 name of a known chain.`);
  for (const address of addresses) {
    if (!chains.some((chain) => isCanonicalAddress(chain, address)))
      throw new UsageError(`${address} is not an address of a chain in --chain, as the service writes it.`);
  }
  return { chains, addresses };
}

/**
 * Returns the wallets of a key on the chains that accept its signatures. The terms of the package
 * have no fault: throws when the key is no point.
 */
export function walletsOf(
  { scheme, publicKey }: RecoveryPackage,
  chains: readonly string[],
): readonly { readonly chain: string; readonly address: string }[] {
  const key = { scheme, publicKey: hexToBytes(publicKey) };
  return chains.flatMap((chain) => {
    const address = addressOn(chain, scheme, walletKey(key, chain));
    return address === null ? [] : [{ chain, address }];
  });
}

/** Returns a fault for each expected address that is not among these. */
export function missingAddresses(
  { addresses }: ExpectedWallets,
  wallets: readonly { readonly address: string }[],
): readonly string[] {
  const missing = addresses.filter((expected) => !wallets.some(({ address }) => address === expected));
  return missing.map((address) => `${address}: no key has this address on the chains of --chain`);
}
