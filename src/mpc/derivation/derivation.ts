import { utf8ToBytes } from '@noble/hashes/utils.js';
import { isBitcoinTestNetwork } from '#domain/asset/chain.ts';
import { taprootOf, tweakPoint, tweakScalar } from '#mpc/derivation/taproot.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { parsePoint, encodePoint } from '#mpc/secp256k1.ts';
import { addSecrets, type SecretScalar } from '#mpc/secret-scalar.ts';
import type { KeyShare } from '#mpc/share.ts';

/** The public part of a key. */
export type PublicKey = Pick<KeyShare, 'scheme' | 'publicKey' | 'publicShares'>;

/**
 * Returns the key of a wallet: the vault's key, one step down. The step is additive and not
 * hardened, so every co-signer derives by itself: each share plus t, the key plus tG, with t =
 * H(key, chain). An approval for one network must not become a signature on another. So every key
 * is derived whose signatures do not name their network: Ed25519 (a Solana transaction does not
 * name its cluster), P2TR and P2WPKH (a signature of Bitcoin names outputs, which may exist on any
 * network). The taproot tweak follows only for P2TR (BIP-341, BIP-86: no script).
 *
 * EVM chains keep the vault's ECDSA key, because their transactions name the chain (EIP-155).
 * P2WPKH keeps it on mainnet, so that no address that holds money changes. Each other network of
 * Bitcoin has its own key.
 *
 * A signature (r, s) on the hash h under key d is also one on h - rt under d + t, so additive
 * derivation is safe only when each signer computes the hash itself and R is unknown before (Groth
 * and Shoup, eprint 2021/1330): co-signers compute it from the intent before round 1, and there are
 * no presignatures. A tweak of zero would give two networks one key. A zero tweak and a key at
 * infinity have a probability of 2^-256 each, and throw.
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

/**
 * Returns the public key of a wallet in the encoding of its scheme: 33 bytes, or 32 for Ed25519.
 */
export function walletKey({ scheme, publicKey }: Omit<PublicKey, 'publicShares'>, chain: string): Uint8Array {
  return walletOf({ scheme, publicKey, publicShares: new Map() }, chain).publicKey;
}

/**
 * Returns the share of a wallet's key, derived by the same step from a share of the vault's key.
 */
export function walletShare(share: KeyShare, chain: string): KeyShare {
  return inGroupOf(share.scheme, (group) => {
    const step = stepOf(group, share, chain);
    return step === null ? share : { ...walletOf(share, chain), secret: step.scalar(share.secret) };
  });
}

interface Step {
  readonly point: (encoded: Uint8Array) => Uint8Array;
  readonly scalar: (value: SecretScalar) => SecretScalar;
}

function stepOf<P extends GroupPoint<P>>(
  group: Group<P>,
  { scheme, publicKey }: PublicKey,
  chain: string,
): Step | null {
  if (scheme === 'ecdsa-secp256k1' && !isBitcoinTestNetwork(chain)) return null;
  const tweak = group.hashToScalar('derivation/wallet', publicKey, utf8ToBytes(chain));
  if (tweak === 0n) throw new Error('a tweak must not be zero');
  const offset = group.multiplyPublic(group.generator, tweak);
  const child: Step = {
    point: (encoded) => {
      const point = group.parsePoint(encoded);
      if (point === null) throw new Error('a public key or share is not a point');
      const derived = point.add(offset);
      if (derived.is0()) throw new Error('a derived key must not be the identity');
      return group.encodePoint(derived);
    },
    scalar: (value) => addSecrets(group.secrets, value, group.secrets.of(tweak)),
  };
  return scheme === 'frost-secp256k1-tr' ? throughTaproot(child, publicKey) : child;
}

function throughTaproot(child: Step, publicKey: Uint8Array): Step {
  const taproot = taprootOf(child.point(publicKey));
  return {
    point: (encoded) => {
      const point = parsePoint(child.point(encoded));
      if (point === null) throw new Error('a derived key is not a point');
      return encodePoint(tweakPoint(taproot, point));
    },
    scalar: (value) => tweakScalar(taproot, child.scalar(value)),
  };
}
