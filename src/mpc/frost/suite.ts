import type { FROST, FrostPublic, FrostSecret, NonceCommitments } from '@noble/curves/abstract/frost.js';
import { ed25519_FROST } from '@noble/curves/ed25519.js';
import { schnorr, schnorr_FROST } from '@noble/curves/secp256k1.js';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { verifyEd25519 } from '#mpc/ed25519.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';

export type FrostScheme = Exclude<KeyScheme, 'ecdsa-secp256k1'>;

/** What a coordinator knows of a key: everything but the secrets. */
export type FrostKey = Pick<KeyShare, 'threshold' | 'publicKey' | 'publicShares'> & { readonly scheme: FrostScheme };

/** A share of a key that FROST signs with. */
export type FrostShare = KeyShare & { readonly scheme: FrostScheme };

export interface Suite {
  readonly frost: FROST;
  readonly pointBytes: number;
  /** By the plain standard of the scheme: RFC 8032 in its strict reading, or BIP-340. Knows nothing of thresholds. */
  readonly verify: (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => Promise<boolean>;
}

const SUITES: Readonly<Record<FrostScheme, Pick<Suite, 'frost' | 'verify'>>> = {
  'frost-ed25519': {
    frost: ed25519_FROST,
    verify: verifyEd25519,
  },
  'frost-secp256k1-tr': {
    frost: schnorr_FROST,
    verify: async (signature, message, publicKey) => schnorr.verify(signature, message, publicKey.subarray(1)),
  },
};

/** noble's suite of a scheme, and what verifies a whole signature. */
export function suiteOf(scheme: FrostScheme): Suite {
  return { ...SUITES[scheme], pointBytes: inGroupOf(scheme, ({ pointBytes }) => pointBytes) };
}

export function isFrostShare(share: KeyShare): share is FrostShare {
  return share.scheme !== 'ecdsa-secp256k1';
}

/** RFC 9591 section 4: an identifier is a scalar that is not zero; ours is the x coordinate of the share. */
export function identifierOf({ frost }: Suite, party: PartyIndex): string {
  return frost.Identifier.fromNumber(party);
}

/** The public package as noble takes it: of the commitments to the polynomial, a share of a signature is verified by the group key alone. */
export function publicPackage(suite: Suite, { threshold, publicKey, publicShares }: FrostKey): FrostPublic {
  const verifyingShares = Object.fromEntries(
    [...publicShares].map(([party, point]) => [identifierOf(suite, party), Uint8Array.from(point)]),
  );
  return {
    signers: { min: threshold, max: publicShares.size },
    commitments: [Uint8Array.from(publicKey)],
    verifyingShares,
  };
}

export function secretPackage(suite: Suite, { scheme, self, secret }: FrostShare): FrostSecret {
  const signingShare = inGroupOf(scheme, (group) => Uint8Array.from(group.encodeScalar(secret)));
  return { identifier: identifierOf(suite, self), signingShare };
}

/**
 * The nonce commitments of some signers, hiding then binding, as noble takes them. Whether they are points of the group, of prime order and
 * not the identity (RFC 9591 section 3.1), noble looks at itself; who sent one that is not, `malformedAmong` tells.
 */
export function commitmentList(suite: Suite, all: ReadonlyMap<PartyIndex, Uint8Array>): NonceCommitments[] {
  const { pointBytes } = suite;
  return [...all].map(([party, bytes]) => ({
    identifier: identifierOf(suite, party),
    hiding: bytes.slice(0, pointBytes),
    binding: bytes.slice(pointBytes),
  }));
}

/** The first party whose commitments are not two points of the group; null when all are. */
export function malformedAmong(scheme: FrostScheme, all: ReadonlyMap<PartyIndex, Uint8Array>): PartyIndex | null {
  return inGroupOf(scheme, ({ pointBytes, parsePoint }) => {
    for (const [party, bytes] of all) {
      const points = [bytes.subarray(0, pointBytes), bytes.subarray(pointBytes)];
      if (!points.every((point) => parsePoint(point) !== null)) return party;
    }
    return null;
  });
}
