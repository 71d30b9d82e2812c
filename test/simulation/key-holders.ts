import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { KeyId } from '#domain/id.ts';
import { parseKeyId } from '#domain/id.ts';
import { walletShare } from '#mpc/derivation/derivation.ts';
import { encodePartial } from '#mpc/ecdsa/messages.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { modOrder } from '#curve/scalar.ts';
import { encodePoint, invertScalar, Point, secretFromDigest, SECRETS } from '#mpc/secp256k1.ts';
import {
  addSecrets,
  multiplySecrets,
  type SecretArithmetic,
  type SecretScalar,
  sumSecrets,
} from '#mpc/secret-scalar.ts';
import type { KeyShare } from '#mpc/share.ts';
import { valueOf } from '../mpc/secret-values.ts';

/** The secret and public key of a wallet, or of the vault key from which wallets derive. */
type Key = Pick<KeyShare, 'secret' | 'publicKey'>;

/** Returns one partial signature for each signer. */
type Deal = (key: Key, message: Uint8Array, signers: number) => readonly Uint8Array[];

const DEALS: Readonly<Record<KeyScheme, Deal>> = {
  'ecdsa-secp256k1': dealEcdsa,
  'frost-ed25519': dealEd25519,
  'frost-secp256k1-tr': dealTaproot,
};

/**
 * The signing of all co-signers of a simulated vault: partial signatures that combine to a valid
 * signature and differ each time. The whole key is in one object, because other tests cover the
 * cryptography, which takes a hundred times as long as the rest of a history.
 */
export class Dealer {
  readonly keyId: KeyId;
  readonly scheme: KeyScheme;
  readonly #key: KeyShare;
  readonly #wallets = new Map<string, KeyShare>();
  readonly #dealt = new Map<string, readonly Uint8Array[]>();

  constructor(keyId: string, scheme: KeyScheme) {
    const parsed = parseKeyId(keyId);
    if (parsed === null) throw new Error('a key has a name');
    this.keyId = parsed;
    this.scheme = scheme;
    this.#key = inGroupOf(scheme, (group) => {
      const [self, secret] = [parsePartyIndex(1), group.secrets.random()];
      if (self === null) throw new Error('there is a first party');
      const publicKey = group.encodePoint(group.multiplyGenerator(secret));
      return { scheme, keyId, epoch: 1, self, threshold: 1, secret, publicKey, publicShares: new Map() };
    });
  }

  get publicKey(): Uint8Array {
    return this.#key.publicKey;
  }

  /**
   * Returns the address of the key on a chain. Throws for a chain that accepts no signature of this
   * scheme. @param chain CAIP-2
   */
  addressOn(chain: string): string {
    const address = addressOn(chain, this.scheme, this.#walletOn(chain).publicKey);
    if (address === null) throw new Error(`the key has no wallet on ${chain}`);
    return address;
  }

  /** Returns the key itself without a chain. */
  #walletOn(chain: string | null): KeyShare {
    if (chain === null) return this.#key;
    const wallet = this.#wallets.get(chain) ?? walletShare(this.#key, chain);
    this.#wallets.set(chain, wallet);
    return wallet;
  }

  /**
   * Returns the partial signature of one signer in a session. A repeated call for a message returns
   * the same one.
   */
  partial(session: Session, message: Uint8Array, position: number): Uint8Array {
    const { sid, chain, signers } = session;
    const name = `${sid} ${bytesToHex(message)}`;
    const parts = this.#dealt.get(name) ?? DEALS[this.scheme](this.#walletOn(chain), message, signers);
    this.#dealt.set(name, parts);
    return parts[position] ?? new Uint8Array();
  }
}

interface Session {
  readonly sid: string;
  /** CAIP-2; null for a signature with the key itself, which proves it. */
  readonly chain: string | null;
  readonly signers: number;
}

/** Splits an ECDSA signature s with s·u = w into shares of u and w, over one nonce point R. */
function dealEcdsa({ secret }: Key, digest: Uint8Array, signers: number): readonly Uint8Array[] {
  const k = SECRETS.random();
  const R = Point.multiple(k);
  const x = SECRETS.of(modOrder(R.toAffine().x));
  const signed = SECRETS.multiplyAdd(x, secret, secretFromDigest(digest));
  const s = multiplySecrets(SECRETS, SECRETS.of(invertScalar(valueOf(k))), signed);
  const u = Array.from({ length: signers }, SECRETS.random);
  const w = Array.from({ length: signers }, SECRETS.random);
  w[0] = rest(SECRETS, multiplySecrets(SECRETS, s, sumSecrets(SECRETS, u)), w);
  return u.map((share, i) => encodePartial(encodePoint(R), share, w[i] ?? share));
}

/**
 * Splits z = k + c·secret (RFC 8032, 5.1.6) into shares, each with R and the commitments that a
 * FROST signer reports.
 */
function dealEd25519({ secret, publicKey }: Key, message: Uint8Array, signers: number): readonly Uint8Array[] {
  const { secrets } = ED25519;
  const k = secrets.random();
  const R = ED25519.encodePoint(ED25519.multiplyGenerator(k));
  const c = secrets.of(bytesToNumberLE(sha512(concatBytes(R, publicKey, message))));
  const z = Array.from({ length: signers }, secrets.random);
  z[0] = rest(secrets, secrets.multiplyAdd(c, secret, k), z);
  return z.map((share) => concatBytes(secrets.reveal(share), R, ...z.flatMap(() => [R, R])));
}

/** Splits a BIP-340 signature into shares; the points of BIP-340 have an even y. */
function dealTaproot({ secret, publicKey }: Key, message: Uint8Array, signers: number): readonly Uint8Array[] {
  const drawn = SECRETS.random();
  const R = encodePoint(Point.multiple(drawn));
  const even = (scalar: SecretScalar, point: Uint8Array) => (point[0] === 2 ? scalar : SECRETS.negate(scalar));
  const [k, d] = [even(drawn, R), even(secret, publicKey)];
  const x = R.slice(1);
  const tagged = schnorr.utils.taggedHash('BIP0340/challenge', x, publicKey.slice(1), message);
  const z = Array.from({ length: signers }, SECRETS.random);
  z[0] = rest(SECRETS, SECRETS.multiplyAdd(secretFromDigest(tagged), d, k), z);
  return z.map((share) => concatBytes(SECRETS.reveal(share), x, ...z.flatMap(() => [R, R])));
}

/** Returns the first share of a value, of which the others are drawn. */
function rest(secrets: SecretArithmetic, value: SecretScalar, shares: readonly SecretScalar[]): SecretScalar {
  return addSecrets(secrets, value, secrets.negate(sumSecrets(secrets, shares.slice(1))));
}
