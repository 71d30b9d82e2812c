import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';
import { bytesOf } from '#chains/solana/rules/address.ts';

/** Returns the value of durable nonces that are advanced while this blockhash is the newest. */
export function durableNonce(blockhash: Address): Address {
  return getAddressDecoder().decode(sha256(concatBytes(utf8ToBytes('DURABLE_NONCE'), bytesOf(blockhash))));
}
