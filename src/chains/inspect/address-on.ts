import { addressOfPublicKey as evmAddress } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { addressOfPublicKey as solanaAddress } from '#chains/solana/rules/address.ts';
import { clusterOf } from '#chains/solana/rules/cluster.ts';
import { addressOfPublicKey as taprootAddress, segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';

/**
 * Returns the address of a wallet's key on a chain, from only the chain's CAIP-2: a co-signer has
 * no table of chains that the coordinator's operator could change. Returns null for a chain of
 * no known family, or that accepts no signature of this scheme. Throws for bytes that are no point:
 * such a key was never generated.
 *
 * @param publicKey as its scheme encodes it
 */
export function addressOn(chain: string, scheme: KeyScheme, publicKey: Uint8Array): string | null {
  if (chainIdOf(chain) !== null) return scheme === 'ecdsa-secp256k1' ? evmAddress(publicKey) : null;
  if (clusterOf(chain) !== null) return scheme === 'frost-ed25519' ? solanaAddress(publicKey) : null;
  const network = networkOf(chain);
  if (network === null || scheme === 'frost-ed25519') return null;
  return scheme === 'frost-secp256k1-tr' ? taprootAddress(network, publicKey) : segwitAddressOf(network, publicKey);
}
