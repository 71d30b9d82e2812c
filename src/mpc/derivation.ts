import { utf8ToBytes } from '@noble/hashes/utils.js';
import { taprootOf, tweakPoint, tweakScalar } from '#mpc/frost/taproot.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/group.ts';
import { parsePoint, encodePoint } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';

/** What everybody knows of a key. */
export type PublicKey = Pick<KeyShare, 'scheme' | 'publicKey' | 'publicShares'>;

/**
 * The key of a wallet: the vault's key, one step down (additive and not hardened, so every node takes the step by itself: each share plus
 * t, the key plus tG, with t = H(key, chain)). A Solana transaction does not name its cluster: with one key for all of them, what a quorum
 * approved on a test network could be signed for the main one. Taproot's tweak follows (BIP-341, BIP-86: no script).
 *
 * The ECDSA key is used as it is: its signatures name their chain (EIP-155) or the very outputs that they spend.
 *
 * @param chain CAIP-2
 */
export function walletOf<K extends PublicKey>(key: K, chain: string): K {
  return inGroupOf(key.scheme, (group) => {
    const step = stepOf(group, key, chain);
    if (step === null) return key;
    const publicShares = new Map([...key.publicShares].map(([party, point]) => [party, step.point(point)] as const));
    return { ...key, publicKey: step.point(key.publicKey), publicShares };
  });
}

/** The public key of a wallet alone, in the encoding of its scheme: 33 bytes, or 32 of Ed25519. */
export function walletKey({ scheme, publicKey }: Omit<PublicKey, 'publicShares'>, chain: string): Uint8Array {
  return walletOf({ scheme, publicKey, publicShares: new Map() }, chain).publicKey;
}

/** The same step for a share of the vault's key. */
export function walletShare(share: KeyShare, chain: string): KeyShare {
  return inGroupOf(share.scheme, (group) => {
    const step = stepOf(group, share, chain);
    return step === null ? share : { ...walletOf(share, chain), secret: step.scalar(share.secret) };
  });
}

interface Step {
  readonly point: (encoded: Uint8Array) => Uint8Array;
  readonly scalar: (value: bigint) => bigint;
}

function stepOf<P extends GroupPoint<P>>(
  group: Group<P>,
  { scheme, publicKey }: PublicKey,
  chain: string,
): Step | null {
  if (scheme === 'ecdsa-secp256k1') return null;
  const tweak = group.hashToScalar('derivation/wallet', publicKey, utf8ToBytes(chain));
  const offset = group.generator.multiplyUnsafe(tweak);
  const child: Step = {
    point: (encoded) => {
      const point = group.parsePoint(encoded);
      if (point === null) throw new Error('a public key or share is a point');
      return group.encodePoint(point.add(offset));
    },
    scalar: (value) => (value + tweak) % group.order,
  };
  return scheme === 'frost-ed25519' ? child : throughTaproot(child, publicKey);
}

function throughTaproot(child: Step, publicKey: Uint8Array): Step {
  const taproot = taprootOf(child.point(publicKey));
  return {
    point: (encoded) => {
      const point = parsePoint(child.point(encoded));
      if (point === null) throw new Error('a derived key is a point');
      return encodePoint(tweakPoint(taproot, point));
    },
    scalar: (value) => tweakScalar(taproot, child.scalar(value)),
  };
}
