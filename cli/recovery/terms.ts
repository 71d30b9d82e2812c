import { hexToBytes } from '@noble/hashes/utils.js';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import { minSigners, parsePartyIndex, type PartyIndex } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes } from '#mpc/recovery/package.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { SigningKeys } from '../peers-file.ts';
import { isSignedBy } from '../peers-file.ts';

/**
 * The terms of a key are what its packages have to agree on. A coordinator can choose among genuine
 * packages, and a co-signer can sign anything, so only terms that as many co-signers signed as sign
 * together are used.
 */

/** A co-signer alone is never enough, whatever it states. */
const MIN_THRESHOLD = 2;

const TERMS = {
  scheme: 'scheme',
  epoch: 'epoch',
  threshold: 'threshold',
  publicKey: 'public key',
  publicShares: 'set of public shares',
} as const satisfies Partial<Record<keyof RecoveryPackage, string>>;

type TermName = keyof typeof TERMS;
const NAMES: readonly TermName[] = ['scheme', 'epoch', 'threshold', 'publicKey', 'publicShares'];

/** The packages of one key with the same terms. */
export interface Candidate {
  /** Not empty. Signed ones are first. */
  readonly packages: readonly [RecoveryPackage, ...RecoveryPackage[]];
  /** The co-signers that signed these terms, in order. */
  readonly signers: readonly number[];
}

export function isSignedPackage(one: RecoveryPackage, signingKeys: SigningKeys): boolean {
  return isSignedBy(signingKeys.get(one.node), one.signature, recoveryPackageBytes(one));
}

/**
 * Returns the packages of one key by their terms: first the terms without a fault, by the number of
 * their signers, and of two with the same number the ones of the later epoch.
 */
export function candidatesOf(packages: readonly RecoveryPackage[], signingKeys: SigningKeys): readonly Candidate[] {
  const byTerms = Map.groupBy(packages, (one) => JSON.stringify(NAMES.map((name) => termOf(one, name))));
  const rated = [...byTerms.values()].flatMap((all) => {
    const signed = all.filter((one) => isSignedPackage(one, signingKeys));
    const [first, ...rest] = [...signed, ...all.filter((one) => !signed.includes(one))];
    if (first === undefined) return [];
    const signers = [...new Set(signed.map(({ node }) => node))].toSorted((a, b) => a - b);
    const candidate: Candidate = { packages: [first, ...rest], signers };
    return [{ candidate, isSound: termFaults(first).length === 0 }];
  });
  const compared = rated.toSorted((a, b) => {
    if (a.isSound !== b.isSound) return a.isSound ? -1 : 1;
    const more = b.candidate.signers.length - a.candidate.signers.length;
    return more === 0 ? b.candidate.packages[0].epoch - a.candidate.packages[0].epoch : more;
  });
  return compared.map(({ candidate }) => candidate);
}

/** Reports whether as many co-signers signed these terms as sign together. */
export function isAgreed({ packages: [first], signers }: Candidate): boolean {
  return signers.length >= Math.max(first.threshold, MIN_THRESHOLD);
}

/** Returns the terms in which two packages differ, in words; empty when they agree. */
export function differences(one: RecoveryPackage, other: RecoveryPackage): string {
  const differing = NAMES.filter((name) => termOf(one, name) !== termOf(other, name));
  return differing.map((name) => TERMS[name]).join(', ');
}

function termOf(one: RecoveryPackage, name: TermName): string {
  if (name !== 'publicShares') return String(one[name]);
  return JSON.stringify(Object.entries(one.publicShares).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns what is wrong with the terms of a package: the key id is not that of the public key, the
 * threshold is outside of its bounds, a value is no point, or a group of shares does not give the
 * public key.
 */
export function termFaults(one: RecoveryPackage): readonly string[] {
  const { scheme, threshold, publicKey } = one;
  if (keyIdOf(scheme, hexToBytes(publicKey)) !== one.keyId) return ['the key id is not that of the public key'];
  const shares = sharesOf(one);
  const least = Math.max(MIN_THRESHOLD, minSigners(shares.length));
  if (threshold < least || threshold > shares.length) return [`a threshold of ${threshold} of ${shares.length}`];
  return inGroupOf(scheme, (group) => {
    const key = group.parsePoint(hexToBytes(publicKey));
    if (key === null) return ['the public key is no point'];
    const points = new Map(shares.map(([party, text]) => [party, group.parsePoint(hexToBytes(text))]));
    const parties = shares.map(([party]) => party);
    const strange = parties.filter((party) => points.get(party) === null);
    if (strange.length > 0) return strange.map((party) => `the public share of co-signer ${party} is no point`);
    const giving = groupsOf(parties, threshold).map((some) => {
      const parts = some.flatMap((party) => {
        const share = points.get(party) ?? null;
        return share === null ? [] : [group.multiplyPublic(share, lagrangeAtZero(group.order, party, some))];
      });
      return { some, gives: parts.reduce((sum, part) => sum.add(part)).equals(key) };
    });
    // When every group gives the key, all shares are on one polynomial: two groups that differ in
    // one co-signer share as many values of it as determine it.
    if (giving.every(({ gives }) => gives)) return [];
    const outside = parties.filter((party) => !giving.some(({ some, gives }) => gives && some.includes(party)));
    if (outside.length === 0 || outside.length === parties.length) return ['the public shares do not give the key'];
    return outside.map((party) => `the public share of co-signer ${party} does not belong to the key`);
  });
}

/** Returns the co-signers of a package with their points in hex. */
function sharesOf({ publicShares }: RecoveryPackage): readonly (readonly [PartyIndex, string])[] {
  return Object.entries(publicShares).flatMap(([name, text]) => {
    const party = parsePartyIndex(Number.parseInt(name, 10));
    return party === null ? [] : [[party, text] as const];
  });
}

/** Returns every group of this size. There are at most ten: five co-signers are the maximum. */
export function groupsOf<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return all.flatMap((one, i) => groupsOf(all.slice(i + 1), size - 1).map((rest) => [one, ...rest]));
}
