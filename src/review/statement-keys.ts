import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';

/** A key about which co-signers make statements, as the service names it. */
interface NamedKey {
  readonly keyId: string;
  readonly scheme: KeyScheme;
  /** Lower-case hex, as the scheme encodes it. */
  readonly publicKey: string;
}

/** The wallet of an intent. */
interface NamedWallet {
  /** CAIP-2. */
  readonly chain: string;
  readonly address: string;
}

type KeyFault = 'not-one-key' | 'malformed-key' | 'other-key-id' | 'other-wallet';

/** The faults as sentences for the signer. */
export const KEY_FAULTS: Readonly<Record<KeyFault, string>> = {
  'not-one-key': 'A wallet has exactly one key, and the service named another number of keys.',
  'malformed-key': 'A public key from the service is malformed.',
  'other-key-id': 'A key id does not match its public key.',
  'other-wallet': 'The key from the service is not the key of the wallet.',
};

/**
 * Returns why statements about these keys prove nothing, or null. Each key id must follow from its
 * public key. For an intent there is one key, and the address of the wallet must follow from it.
 *
 * A hostile service could otherwise name another key than the one that moves the money. At an
 * honest co-signer all keys of a vault have the same policy in force.
 *
 * @param wallet the wallet of an intent; null for a request about all keys of a vault
 */
export function keyFault(keys: readonly NamedKey[], wallet: NamedWallet | null): KeyFault | null {
  if (wallet !== null && keys.length !== 1) return 'not-one-key';
  for (const { keyId, scheme, publicKey: hex } of keys) {
    const publicKey = bytesOf(hex);
    if (publicKey === null) return 'malformed-key';
    if (keyIdOf(scheme, publicKey) !== keyId) return 'other-key-id';
    if (wallet === null) continue;
    const address = walletAddress({ scheme, publicKey }, wallet.chain);
    if (address === undefined) return 'malformed-key';
    if (address !== wallet.address) return 'other-wallet';
  }
  return null;
}

/** Returns the address of a key on a chain, or undefined for bytes that are no key. */
function walletAddress(key: Parameters<typeof walletKey>[0], chain: string): string | null | undefined {
  try {
    return addressOn(chain, key.scheme, walletKey(key, chain));
  } catch {
    return undefined;
  }
}

function bytesOf(hex: string): Uint8Array | null {
  return /^(?:[0-9a-f]{2})+$/.test(hex) ? hexToBytes(hex) : null;
}
