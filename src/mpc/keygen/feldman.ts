import type { Group, GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

/** Coefficients of a polynomial over the scalars, the constant first. */
export type Polynomial = readonly SecretScalar[];

/** Returns a random polynomial of degree threshold - 1. */
export function randomPolynomial<P extends GroupPoint<P>>(group: Group<P>, threshold: number): Polynomial {
  return Array.from({ length: threshold }, () => group.secrets.random());
}

/** Returns f(x), by Horner. */
export function evaluate<P extends GroupPoint<P>>(
  { secrets }: Group<P>,
  polynomial: Polynomial,
  x: PartyIndex,
): SecretScalar {
  const at = secrets.of(BigInt(x));
  return polynomial.reduceRight((sum, coefficient) => secrets.multiplyAdd(sum, at, coefficient), secrets.of(0n));
}

/** Returns Feldman's commitments: each coefficient times the generator. */
export function commitments<P extends GroupPoint<P>>(group: Group<P>, polynomial: Polynomial): readonly P[] {
  return polynomial.map(group.multiplyGenerator);
}

/**
 * Returns f(x) times the generator, from the commitments. They are public, so no constant time is
 * needed.
 */
export function evaluateInExponent<P extends GroupPoint<P>>(group: Group<P>, points: readonly P[], x: PartyIndex): P {
  const [last, ...rest] = points.toReversed();
  if (last === undefined) throw new Error('a commitment has no point');
  return rest.reduce((sum, point) => group.multiplyPublic(sum, BigInt(x)).add(point), last);
}

/**
 * Returns the coefficient-wise sum of all commitments: the commitment to the group's polynomial.
 */
export function sumCommitments<P extends GroupPoint<P>>(all: readonly (readonly P[])[]): readonly P[] {
  const [first, ...rest] = all;
  if (first === undefined) throw new Error('no commitments to add');
  return rest.reduce((sum, points) => sum.map((point, k) => point.add(points[k]!)), first);
}
