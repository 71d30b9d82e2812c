import { engineOf } from '#curve/engine.ts';
import code from '#curve/secp256k1.wasm';

/**
 * The arithmetic of secp256k1 by libsecp256k1 (secp256k1.c, which states the limits of each
 * function). A point is 64 bytes: x and y, big-endian, and zeros for the identity. A scalar is 32
 * bytes, big-endian.
 *
 * The memory is wiped after each function: the buffer, and the stack below it.
 */
export const POINT_LENGTH = 64;
const SCALAR_LENGTH = 32;
const WIDE_LENGTH = 48;

/** The layout of the buffer in bytes, as in secp256k1.c. */
const AT = { a: 0, b: 64, s: 128, t: 160, result: 192, text: 256, end: 1024 } as const;
const MAX_TEXT = AT.end - AT.text;

/** The bytes below the constants, which are the stack of the code (secp256k1.sh). */
const STACK_BYTES = 8_192;

export interface Functions {
  readonly buffer: () => number;
  readonly begin: () => void;
  readonly multiplyGenerator: () => void;
  readonly multiply: () => void;
  readonly combine: () => void;
  readonly add: () => void;
  readonly negate: () => void;
  readonly parse: () => number;
  readonly hashToCurve: (messageLength: number, dstLength: number) => void;
  readonly isScalar: () => number;
  readonly reduceWide: () => void;
  readonly multiplyAdd: () => void;
  readonly negateScalar: () => void;
  readonly vectors: () => number;
  readonly fold: () => void;
  readonly areScalars: () => number;
  readonly reduce: () => void;
  readonly select: () => void;
  readonly offset: () => void;
  readonly choose: () => void;
  readonly correct: () => void;
  readonly transpose: () => void;
}

const engine = engineOf<Functions>(code);

interface Module {
  readonly functions: Functions;
  /** The memory from its beginning. */
  readonly memory: Uint8Array;
  readonly buffer: Uint8Array;
}

let loaded: Module | null = null;

/** Returns the module. On the first call its products of the generator are blinded. */
function module(): Module {
  if (loaded !== null) return loaded;
  const functions = engine();
  const memory = new Uint8Array(functions.memory.buffer);
  const buffer = memory.subarray(functions.buffer(), functions.buffer() + AT.end);
  crypto.getRandomValues(buffer.subarray(AT.text, AT.text + SCALAR_LENGTH));
  functions.begin();
  loaded = { functions, memory, buffer };
  wipe(loaded);
  return loaded;
}

function wipe({ memory, buffer }: Module): void {
  memory.fill(0, 0, STACK_BYTES);
  buffer.fill(0);
}

/** Inputs by their positions in the buffer. */
type Inputs = Partial<Readonly<Record<'a' | 'b' | 's' | 't' | 'text', Uint8Array>>>;

/** Calls functions over inputs, and wipes the memory when they have ended. */
export function over<T>(inputs: Inputs, run: (own: Module) => T): T {
  const own = module();
  try {
    for (const [position, bytes] of Object.entries(inputs)) own.buffer.set(bytes, AT[position as keyof Inputs]);
    return run(own);
  } finally {
    wipe(own);
  }
}

function pointOver(inputs: Inputs, run: (functions: Functions) => void): Uint8Array {
  return over(inputs, ({ functions, buffer }) => {
    run(functions);
    return buffer.slice(AT.result, AT.result + POINT_LENGTH);
  });
}

function scalarOver(inputs: Inputs, run: (functions: Functions) => void): Uint8Array {
  return over(inputs, ({ functions, buffer }) => {
    run(functions);
    return buffer.slice(AT.s, AT.s + SCALAR_LENGTH);
  });
}

/** Returns scalar G. The scalar may be secret. */
export function multiplyGenerator(scalar: Uint8Array): Uint8Array {
  return pointOver({ s: scalar }, (functions) => functions.multiplyGenerator());
}

/** Returns scalar P. The scalar may be secret. */
export function multiplyPoint(point: Uint8Array, scalar: Uint8Array): Uint8Array {
  return pointOver({ a: point, s: scalar }, (functions) => functions.multiply());
}

/** Returns a P + b G, for public values: its time depends on them. */
export function combinePublic(point: Uint8Array, a: Uint8Array, b: Uint8Array): Uint8Array {
  return pointOver({ a: point, s: a, t: b }, (functions) => functions.combine());
}

/** Returns P + Q. */
export function addPoints(one: Uint8Array, other: Uint8Array): Uint8Array {
  return pointOver({ a: one, b: other }, (functions) => functions.add());
}

/** Returns -P. */
export function negatePoint(point: Uint8Array): Uint8Array {
  return pointOver({ a: point }, (functions) => functions.negate());
}

/** Parses 33 bytes of SEC 1, in the one encoding of a point; else returns null. They are public. */
export function parseCompressed(bytes: Uint8Array): Uint8Array | null {
  return over({ text: bytes }, ({ functions, buffer }) =>
    functions.parse() === 1 ? buffer.slice(AT.result, AT.result + POINT_LENGTH) : null,
  );
}

/**
 * Returns the point of a message (RFC 9380, secp256k1_XMD:SHA-256_SSWU_RO_), in a time that depends
 * on the lengths only. Throws for more than fits the buffer.
 */
export function hashToCurve(message: Uint8Array, dst: Uint8Array): Uint8Array {
  if (message.length + dst.length > MAX_TEXT || dst.length > 255) throw new Error('a message or DST is too long');
  const text = new Uint8Array(message.length + dst.length);
  text.set(message);
  text.set(dst, message.length);
  return pointOver({ text }, (functions) => functions.hashToCurve(message.length, dst.length));
}

/** Reports whether 32 bytes are below the order. */
export function isScalar(bytes: Uint8Array): boolean {
  return over({ s: bytes }, ({ functions }) => functions.isScalar() === 1);
}

/** Returns 48 bytes, big-endian, reduced by the order. */
export function reduceWide(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== WIDE_LENGTH) throw new Error('a value to reduce does not have 48 bytes');
  return scalarOver({ text: bytes }, (functions) => functions.reduceWide());
}

/** Returns a b + c. */
export function multiplyAdd(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  return scalarOver({ s: a, t: b, text: c }, (functions) => functions.multiplyAdd());
}

/** Returns -a. */
export function negateScalar(scalar: Uint8Array): Uint8Array {
  return scalarOver({ s: scalar }, (functions) => functions.negateScalar());
}
