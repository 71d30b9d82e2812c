import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SkippedFields } from '#chains/rpc/skipped-fields.ts';

/** Covers the values that are left out of a long answer before it is parsed. */

const NAMES = ['witness', 'w'];

/** Returns the kept text of bytes that arrive in chunks of these sizes, again and again. */
function kept(text: string, sizes: readonly number[]): string {
  const fields = new SkippedFields(new Set(NAMES));
  const bytes = new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  for (let [at, i] = [0, 0]; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    parts.push(fields.write(bytes.subarray(at, at + size)));
    at += size;
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

/** Returns the value with null for each skipped field. */
function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, NAMES.includes(name) ? null : without(one)]);
  return Object.fromEntries(entries) as unknown;
}

test('a skipped value is null, whatever its form, and everything else is unchanged', () => {
  const name = fc.oneof(fc.constantFrom(...NAMES, 'x'.repeat(40), '"witness":1', 'w\\'), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('witness', 'w":[', '\\"', '', ']', '}'),
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree')),
      fc.dictionary(name, tie('tree')),
    ),
  }));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  fc.assert(
    fc.property(tree, sizes, fc.constantFrom(0, 1, 2), (value, chunks, space) => {
      const text = JSON.stringify(value, null, space);
      expect(JSON.parse(kept(text, chunks))).toEqual(JSON.parse(JSON.stringify(without(value))));
    }),
    { numRuns: 2_000 },
  );
});

test('a chunk of skipped values alone is no longer than twice its length', () => {
  const text = `[${Array.from({ length: 1_000 }, () => '{"w":1}').join()}]`;
  expect(JSON.parse(kept(text, [text.length]))).toEqual(Array.from({ length: 1_000 }, () => ({ w: null })));
});
