import type { FROST, FrostPublic, NonceCommitments } from '@noble/curves/abstract/frost.js';
import { ed25519_FROST } from '@noble/curves/ed25519.js';
import { schnorr_FROST } from '@noble/curves/secp256k1.js';
import { verifiesBip340 } from '#curve/signatures.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { verifyEd25519 } from '#mpc/ed25519.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';

export type FrostScheme = Exclude<KeyScheme, 'ecdsa-secp256k1'>;

/** The part of a key that a coordinator knows: everything but the secrets. */
export type FrostKey = Pick<KeyShare, 'threshold' | 'publicKey' | 'publicShares'> & { readonly scheme: FrostScheme };

/** A share of a key that FROST signs with. */
export type FrostShare = KeyShare & { readonly scheme: FrostScheme };

export interface Suite {
  readonly frost: FROST;
  readonly pointBytes: number;
  /**
   * Verifies by the plain standard of the scheme: RFC 8032 in its strict reading, or BIP-340. It
   * has no notion of thresholds.
   */
  readonly verify: (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => Promise<boolean>;
}

const SUITES: Readonly<Record<FrostScheme, Pick<Suite, 'frost' | 'verify'>>> = {
  'frost-ed25519': {
    frost: ed25519_FROST,
    verify: verifyEd25519,
  },
  'frost-secp256k1-tr': {
    frost: schnorr_FROST,
    verify: async (signature, message, publicKey) => verifiesBip340(signature, message, publicKey.subarray(1)),
  },
};

/** Returns noble's suite of a scheme, and its verifier of a whole signature. */
export function suiteOf(scheme: FrostScheme): Suite {
  return { ...SUITES[scheme], pointBytes: inGroupOf(scheme, ({ pointBytes }) => pointBytes) };
}

export function isFrostShare(share: KeyShare): share is FrostShare {
  return share.scheme !== 'ecdsa-secp256k1';
}

/**
 * RFC 9591 section 4: an identifier is a scalar that is not zero; ours is the x coordinate of the
 * share.
 */
export function identifierOf({ frost }: Suite, party: PartyIndex): string {
  return frost.Identifier.fromNumber(party);
}

/**
 * Returns the public package in noble's form. Of the commitments to the polynomial, the
 * verification of a signature share needs only the group key.
 */
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

/**
 * Returns the nonce commitments of some signers in noble's form, hiding then binding. noble itself
 * checks that they are points of the group, of prime order and not the identity (RFC 9591 section
 * 3.1); `malformedAmong` identifies the sender of one that is not.
 */
export function commitmentList(suite: Suite, all: ReadonlyMap<PartyIndex, Uint8Array>): NonceCommitments[] {
  const { pointBytes } = suite;
  return [...all].map(([party, bytes]) => ({
    identifier: identifierOf(suite, party),
    hiding: bytes.slice(0, pointBytes),
    binding: bytes.slice(pointBytes),
  }));
}

/** Returns the first party whose commitments are not two points of the group, or null. */
export function malformedAmong(scheme: FrostScheme, all: ReadonlyMap<PartyIndex, Uint8Array>): PartyIndex | null {
  return inGroupOf(scheme, ({ pointBytes, parsePoint }) => {
    for (const [party, bytes] of all) {
      const points = [bytes.subarray(0, pointBytes), bytes.subarray(pointBytes)];
      if (!points.every((point) => parsePoint(point) !== null)) return party;
    }
    return null;
  });
}
