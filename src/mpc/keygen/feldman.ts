import type { Group, GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** Coefficients of a polynomial over the scalars, the constant first. Secret. */
export type Polynomial = readonly bigint[];

/** A random polynomial of degree threshold - 1. */
export function randomPolynomial<P extends GroupPoint<P>>(group: Group<P>, threshold: number): Polynomial {
  return Array.from({ length: threshold }, () => group.randomScalar());
}

/** f(x), by Horner. */
export function evaluate<P extends GroupPoint<P>>(group: Group<P>, polynomial: Polynomial, x: PartyIndex): bigint {
  return polynomial.reduceRight((sum, coefficient) => (sum * BigInt(x) + coefficient) % group.order, 0n);
}

/** Feldman's commitments: each coefficient times the generator. */
export function commitments<P extends GroupPoint<P>>(group: Group<P>, polynomial: Polynomial): readonly P[] {
  return polynomial.map((coefficient) => group.generator.multiply(coefficient));
}

/** f(x) times the generator, out of the commitments. Public: no constant time is needed. */
export function evaluateInExponent<P extends GroupPoint<P>>(points: readonly P[], x: PartyIndex): P {
  const [last, ...rest] = points.toReversed();
  if (last === undefined) throw new Error('a commitment has at least one point');
  return rest.reduce((sum, point) => sum.multiplyUnsafe(BigInt(x)).add(point), last);
}

/** Coefficient-wise sum of everybody's commitments: the commitment to the group's polynomial. */
export function sumCommitments<P extends GroupPoint<P>>(all: readonly (readonly P[])[]): readonly P[] {
  const [first, ...rest] = all;
  if (first === undefined) throw new Error('nothing to add');
  return rest.reduce((sum, points) => sum.map((point, k) => point.add(points[k]!)), first);
}

export function sumScalars<P extends GroupPoint<P>>({ order }: Group<P>, values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => (sum + value) % order, 0n);
}
