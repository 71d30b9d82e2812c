import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Address, OutScript } from '@scure/btc-signer';
import type { AddressFault } from '#chains/chain-rules.ts';
import type { Network } from '#chains/bitcoin/rules/network.ts';
import { NETWORKS } from '#chains/bitcoin/rules/network.ts';
import { keyHashOf } from '#chains/bitcoin/rules/witness.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Outputs that need a key or a script to spend. This excludes outputs that anyone can spend (P2A)
 * and future witness versions.
 */
const PAYABLE: ReadonlySet<string> = new Set(['pkh', 'sh', 'wpkh', 'wsh', 'tr']);

/** Text that looks like an address of any network: bech32 (BIP-173), or base58 with a checksum. */
const SHAPE =
  /^(?:(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{6,87}|(?:BC|TB|BCRT)1[02-9AC-HJ-NP-Z]{6,87}|[123mn][1-9A-HJ-NP-Za-km-z]{24,34})$/;

/**
 * Returns an address in its canonical spelling: bech32 in lower case. Refuses, in order:
 * `other-network`; `bad-checksum` for text that looks like an address; `malformed`, which includes
 * outputs that anyone can spend, outputs that are not spendable yet, and P2TR without a key.
 */
export function parseAddress(network: Network, text: string): Result<string, AddressFault> {
  const canonical = canonicalAddress(network, text);
  if (canonical !== null) return hasKey(network, canonical) ? accepted(canonical) : refused('malformed');
  if (NETWORKS.some((other) => canonicalAddress(other, text) !== null)) return refused('other-network');
  const isOdd = NETWORKS.some((other) => outputOf(other, text) !== null);
  return refused(SHAPE.test(text) && !isOdd ? 'bad-checksum' : 'malformed');
}

/**
 * Reports whether a P2TR address has an output key. A payment to an x-coordinate without a point
 * (BIP-340, `lift_x`) can never be spent.
 */
function hasKey(network: Network, address: string): boolean {
  const output = outputOf(network, address);
  if (output?.type !== 'tr') return true;
  try {
    schnorr.utils.lift_x(BigInt(`0x${bytesToHex(Uint8Array.from(output.pubkey))}`));
    return true;
  } catch {
    // noble throws for an x-coordinate without a point.
    return false;
  }
}

/** Returns null for text that is no address of this network, or is one that must not be paid. */
function canonicalAddress(network: Network, text: string): string | null {
  const output = outputOf(network, text);
  return output !== null && PAYABLE.has(output.type) ? Address(network).encode(output) : null;
}

/** Returns null for text that is no address of this network. */
function outputOf(network: Network, text: string) {
  try {
    return Address(network).decode(text);
  } catch {
    // btc-signer throws for text that is no address.
    return null;
  }
}

/**
 * Returns the script of an output to this address; null for text that is no address of this network
 * in its canonical spelling.
 */
export function scriptOf(network: Network, address: string): Uint8Array | null {
  if (canonicalAddress(network, address) !== address) return null;
  return Uint8Array.from(OutScript.encode(Address(network).decode(address)));
}

/**
 * Returns the P2TR address of a wallet (BIP-341, BIP-350). Throws for bytes that are no point: such
 * a key was never generated.
 *
 * @param publicKey 33 bytes: the output key, after taproot's tweak
 */
export function addressOfPublicKey(network: Network, publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey);
  return Address(network).encode({ type: 'tr', pubkey: point.toBytes(true).slice(1) });
}

/**
 * Returns the P2WPKH address of an ECDSA key (BIP-141, BIP-173). Throws for bytes that are no
 * point.
 *
 * @param publicKey 33 bytes
 */
export function segwitAddressOf(network: Network, publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey);
  return Address(network).encode({ type: 'wpkh', hash: keyHashOf(point.toBytes(true)) });
}
