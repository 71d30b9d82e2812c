import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { clusterOf } from '#chains/solana/rules/cluster.ts';

/**
 * Rules compare addresses as texts. A rule in another spelling looks right to a signer and binds no
 * transaction, so a co-signer refuses a policy that has one. It reads the chain only from its
 * CAIP-2 name: it has no table of chains that the coordinator could change.
 */

/** Reports whether this CAIP-2 name is of a known chain family. */
export function isKnownChain(chain: string): boolean {
  return chainIdOf(chain) !== null || clusterOf(chain) !== null || networkOf(chain) !== null;
}

/** Reports whether this is an address of the chain in its canonical spelling. */
export function isCanonicalAddress(chain: string, address: string): boolean {
  if (chainIdOf(chain) !== null) return canonicalAddress(address) !== null;
  if (clusterOf(chain) !== null) return isPublicKey(address);
  const network = networkOf(chain);
  return network !== null && scriptOf(network, address) !== null;
}

/**
 * Reports whether a rule can name this token, or with null the native asset. Bitcoin has no tokens
 * here.
 */
export function isCanonicalAsset(chain: string, tokenAddress: string | null): boolean {
  if (tokenAddress === null) return isKnownChain(chain);
  return networkOf(chain) === null && isCanonicalAddress(chain, tokenAddress);
}
