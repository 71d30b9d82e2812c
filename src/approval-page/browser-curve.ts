import { secp256k1 } from '@noble/curves/secp256k1.js';

/**
 * Stands in for `curve/secp256k1.ts` in this page (vite.config.ts), which derives addresses from
 * public keys and has no secret. The content security policy of the page allows no WebAssembly.
 */
const { Point } = secp256k1;

export const POINT_LENGTH = 64;

type NoblePoint = InstanceType<typeof Point>;

function read(affine: Uint8Array): NoblePoint {
  return affine.every((byte) => byte === 0) ? Point.ZERO : Point.fromBytes(Uint8Array.of(4, ...affine));
}

function write(point: NoblePoint): Uint8Array {
  return point.is0() ? new Uint8Array(POINT_LENGTH) : point.toBytes(false).slice(1);
}

export function parseCompressed(bytes: Uint8Array): Uint8Array | null {
  try {
    return write(Point.fromBytes(bytes));
  } catch {
    return null;
  }
}

export function addPoints(one: Uint8Array, other: Uint8Array): Uint8Array {
  return write(read(one).add(read(other)));
}

export function negatePoint(point: Uint8Array): Uint8Array {
  return write(read(point).negate());
}

export function combinePublic(point: Uint8Array, a: Uint8Array, b: Uint8Array): Uint8Array {
  return write(
    read(point)
      .multiplyUnsafe(Point.Fn.fromBytes(a))
      .add(Point.BASE.multiplyUnsafe(Point.Fn.fromBytes(b))),
  );
}

const forSecrets = (): never => {
  throw new Error('the page must not compute with secrets');
};
export {
  forSecrets as hashToCurve,
  forSecrets as isScalar,
  forSecrets as multiplyAdd,
  forSecrets as multiplyGenerator,
  forSecrets as multiplyPoint,
  forSecrets as negateScalar,
  forSecrets as reduceWide,
};
