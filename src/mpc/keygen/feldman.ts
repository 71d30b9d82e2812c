import type { PartyIndex } from '#mpc/party.ts';
import { GENERATOR, modOrder, ORDER, type Point, randomScalar } from '#mpc/secp256k1.ts';

/** Coefficients of a polynomial over the scalars, the constant first. Secret. */
export type Polynomial = readonly bigint[];

/** A random polynomial of degree threshold - 1. */
export function randomPolynomial(threshold: number): Polynomial {
  return Array.from({ length: threshold }, randomScalar);
}

/** f(x), by Horner. */
export function evaluate(polynomial: Polynomial, x: PartyIndex): bigint {
  return polynomial.reduceRight((sum, coefficient) => (sum * BigInt(x) + coefficient) % ORDER, 0n);
}

/** Feldman's commitments: each coefficient times G. */
export function commitments(polynomial: Polynomial): readonly Point[] {
  return polynomial.map((coefficient) => GENERATOR.multiply(coefficient));
}

/** f(x) G out of the commitments. Public: no constant time is needed. */
export function evaluateInExponent(points: readonly Point[], x: PartyIndex): Point {
  const [last, ...rest] = points.toReversed();
  if (last === undefined) throw new Error('a commitment has at least one point');
  return rest.reduce((sum, point) => sum.multiplyUnsafe(BigInt(x)).add(point), last);
}

/** Coefficient-wise sum of everybody's commitments: the commitment to the group's polynomial. */
export function sumCommitments(all: readonly (readonly Point[])[]): readonly Point[] {
  const [first, ...rest] = all;
  if (first === undefined) throw new Error('nothing to add');
  return rest.reduce((sum, points) => sum.map((point, k) => point.add(points[k]!)), first);
}

export function sumScalars(values: readonly bigint[]): bigint {
  return modOrder(values.reduce((sum, value) => sum + value, 0n));
}
