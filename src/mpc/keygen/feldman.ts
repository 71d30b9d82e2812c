import type { Group, GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** Coefficients of a polynomial over the scalars, the constant first. Secret. */
export type Polynomial = readonly bigint[];

/** Returns a random polynomial of degree threshold - 1. */
export function randomPolynomial<P extends GroupPoint<P>>(group: Group<P>, threshold: number): Polynomial {
  return Array.from({ length: threshold }, () => group.randomScalar());
}

/** Returns f(x), by Horner. */
export function evaluate<P extends GroupPoint<P>>(group: Group<P>, polynomial: Polynomial, x: PartyIndex): bigint {
  return polynomial.reduceRight((sum, coefficient) => (sum * BigInt(x) + coefficient) % group.order, 0n);
}

/** Returns Feldman's commitments: each coefficient times the generator. */
export function commitments<P extends GroupPoint<P>>(group: Group<P>, polynomial: Polynomial): readonly P[] {
  return polynomial.map((coefficient) => group.generator.multiply(coefficient));
}

/**
 * Returns f(x) times the generator, from the commitments. They are public, so no constant time is
 * needed.
 */
export function evaluateInExponent<P extends GroupPoint<P>>(points: readonly P[], x: PartyIndex): P {
  const [last, ...rest] = points.toReversed();
  if (last === undefined) throw new Error('a commitment has at least one point');
  return rest.reduce((sum, point) => sum.multiplyUnsafe(BigInt(x)).add(point), last);
}

/**
 * Returns the coefficient-wise sum of all commitments: the commitment to the group's polynomial.
 */
export function sumCommitments<P extends GroupPoint<P>>(all: readonly (readonly P[])[]): readonly P[] {
  const [first, ...rest] = all;
  if (first === undefined) throw new Error('nothing to add');
  return rest.reduce((sum, points) => sum.map((point, k) => point.add(points[k]!)), first);
}

export function sumScalars<P extends GroupPoint<P>>({ order }: Group<P>, values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => (sum + value) % order, 0n);
}
