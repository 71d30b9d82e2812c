import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { skeletonOf } from '#chains/inspect/confusable.ts';
import { LISTED_TOKENS } from '#chains/listed-tokens.ts';
import { impersonatedSymbol } from '#chains/inspect/token-impersonation.ts';
import { confusableLetters, skeletonByPackage, TABLE } from './confusable-letters.ts';

/** Compares the table of look-alike letters with the package that it is made from. */

const SYMBOLS = [...new Set(Object.values(LISTED_TOKENS).flatMap((tokens) => tokens.map(({ symbol }) => symbol)))];
const letters = Array.from({ length: 0x110000 }, (_, codePoint) => String.fromCodePoint(codePoint));

test('the table equals the output of npm run confusable-letters', () => {
  expect(readFileSync(TABLE, 'utf8')).toBe(confusableLetters());
});

test('every character of Unicode has the skeleton of the whole package, alone and in a text', () => {
  const differs = (text: string) => skeletonOf(text) !== skeletonByPackage(text);
  expect(letters.filter((letter) => differs(letter) || differs(`a${letter}b`))).toEqual([]);
});

test('any text has the skeleton of the whole package', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(text, (any) => skeletonOf(any) === skeletonByPackage(any)),
    { numRuns: 500 },
  );
});

test('a letter in the place of any letter of a listed symbol gets the verdict of the whole package', () => {
  const real = SYMBOLS.map((symbol) => [skeletonByPackage(symbol), symbol] as const);
  const verdictByPackage = new Map(real.toReversed());
  const disguises = letters.filter((letter) => /^[a-z0-9]+$/iu.test(skeletonByPackage(letter)));
  expect(disguises.length).toBeGreaterThan(1000);
  const differing = SYMBOLS.flatMap((symbol) =>
    [...symbol].flatMap((_, i) =>
      disguises
        .map((letter) => symbol.slice(0, i) + letter + symbol.slice(i + 1))
        .filter(
          (text) => impersonatedSymbol(text, SYMBOLS) !== (verdictByPackage.get(skeletonByPackage(text)) ?? null),
        ),
    ),
  );
  expect(differing).toEqual([]);
});
