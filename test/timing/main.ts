import { parseArgs } from 'node:util';
import { combinePublic, hashToCurve, multiplyAdd, multiplyGenerator, multiplyPoint } from '#curve/secp256k1.ts';
import { chosen } from '#curve/vectors.ts';
import { welchT } from './welch.ts';

/**
 * `npm run test:timing [-- --count N]` measures whether the time of an arithmetic function depends
 * on its secret (after dudect: Reparaz, Balasch and Verbauwhede, eprint 2016/1123). It makes N
 * calls with one fixed scalar and N with random ones, in random order. A difference of their means
 * of 4.5 standard errors fails. The function for public scalars must show such a difference, or the
 * measurement itself is useless.
 */
const { values } = parseArgs({ options: { count: { type: 'string', default: '100000' } } });
const COUNT = Number.parseInt(values.count, 10);
const MAX_T = 4.5;
const WARM_UP = 5_000;

const POINT = multiplyGenerator(scalar(7));
const ZERO = new Uint8Array(32);
/** Four scalars for each of 416 instances. */
const SCALARS = new Uint32Array(416 * 4 * 8).fill(0x12345678);
const DST = new TextEncoder().encode('a DST of the timing test');

/** Returns a scalar of few bits, whose products a careless implementation computes fast. */
function scalar(value: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes[31] = value;
  return bytes;
}

/** Returns 416 bits: the secret once and a half. */
function bitsOf(secret: Uint8Array): Uint8Array {
  const bits = new Uint8Array(52);
  bits.set(secret);
  bits.set(secret.subarray(12), 32);
  return bits;
}

interface Subject {
  readonly name: string;
  readonly run: (secret: Uint8Array) => unknown;
  readonly isConstant: boolean;
}

const SUBJECTS: readonly Subject[] = [
  { name: 'secret times a point', run: (secret) => multiplyPoint(POINT, secret), isConstant: true },
  { name: 'secret times the generator', run: multiplyGenerator, isConstant: true },
  { name: 'secret a b + c', run: (secret) => multiplyAdd(secret, secret, secret), isConstant: true },
  { name: 'hash of a secret to the curve', run: (secret) => hashToCurve(secret, DST), isConstant: true },
  { name: 'sums that secret bits choose', run: (secret) => chosen(SCALARS, SCALARS, bitsOf(secret)), isConstant: true },
  { name: 'public times a point', run: (secret) => combinePublic(POINT, secret, ZERO), isConstant: false },
];

/** The inputs are made before they are measured, so that the same code runs before each call. */
const BATCH = 1_000;

function measured({ run }: Subject): number {
  const fixed = scalar(3);
  const times: Readonly<Record<'fixed' | 'random', number[]>> = { fixed: [], random: [] };
  for (let i = 0; i < WARM_UP; i++) run(fixed);
  while (times.fixed.length < COUNT || times.random.length < COUNT) {
    const kinds = Array.from({ length: BATCH }, () => (Math.random() < 0.5 ? 'fixed' : 'random'));
    const inputs = kinds.map((kind) => {
      const input = crypto.getRandomValues(new Uint8Array(32));
      // A random scalar is below the order.
      input[0] = (input[0] ?? 0) & 0x7f;
      if (kind === 'fixed') input.set(fixed);
      return input;
    });
    const taken = inputs.map((input) => {
      const begun = process.hrtime.bigint();
      run(input);
      return Number(process.hrtime.bigint() - begun);
    });
    for (const [i, kind] of kinds.entries()) if (times[kind].length < COUNT) times[kind].push(taken[i] ?? 0);
  }
  return Math.abs(welchT(times.fixed, times.random));
}

let bad = 0;
for (const subject of SUBJECTS) {
  const t = measured(subject);
  const isExpected = subject.isConstant ? t < MAX_T : t >= MAX_T;
  if (!isExpected) bad += 1;
  const verdict = isExpected ? 'as expected' : 'NOT as expected';
  console.log(`${subject.name}: |t| = ${t.toFixed(2)}, ${verdict}`);
}
if (bad > 0) process.exitCode = 1;
