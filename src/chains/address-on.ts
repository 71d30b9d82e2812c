import { addressOfPublicKey } from '#chains/evm/address.ts';
import { chainIdOf } from '#chains/evm/chain-id.ts';
import type { KeyScheme } from '#domain/chain.ts';

/**
 * The address of a wallet's key on a chain, by the chain's CAIP-2 alone: a co-signer has no table of chains that an operator of the
 * coordinator could change. Null for a chain that no adapter knows, or that takes no signature of this scheme.
 */
export function addressOn(chain: string, scheme: KeyScheme, publicKey: Uint8Array): string | null {
  if (chainIdOf(chain) !== null) return scheme === 'ecdsa-secp256k1' ? addressOfPublicKey(publicKey) : null;
  return null;
}
