import { expect, test } from 'vitest';
import type { CosignerAgreement, Agreement } from '#devices/cosigner-agreement.ts';
import { consentTo, optionsFor, parseExceptions, unnamed } from '#cli/device/cosigner-exception.ts';
import { thresholdOf } from '#cli/device/cosigner-pins.ts';

const one = (cosigner: number, agreement: Agreement): CosignerAgreement => ({ cosigner, agreement, detail: '' });

test('an exception names a co-signer with its statement, and does not cover another statement', () => {
  const named = parseExceptions(['3:unknown']);
  expect(unnamed([one(3, 'unknown')], named)).toEqual([]);
  expect(unnamed([one(3, 'later-version')], named)).toHaveLength(1);
  expect(unnamed([one(2, 'unknown'), one(3, 'unknown')], named)).toEqual([one(2, 'unknown')]);
  expect(unnamed([one(3, 'unknown')], parseExceptions([]))).toHaveLength(1);
});

test("an exception consists of the co-signer's number and its verdict, and nothing else", () => {
  for (const text of [
    '3',
    '3:',
    ':unknown',
    '3:agrees',
    '3:unknown ',
    '0:unknown',
    '3:UNKNOWN',
    '3:unknown,2:unknown',
  ]) {
    expect(() => parseExceptions([text])).toThrow('--despite-cosigner');
  }
});

test('the command prints the options and the answer that accept the exceptions', () => {
  const exceptions = [one(3, 'behind'), one(1, 'unknown'), one(3, 'unknown')];
  expect(
    unnamed(
      exceptions,
      parseExceptions(
        optionsFor(exceptions)
          .split('--despite-cosigner ')
          .slice(1)
          .map((text) => text.trim()),
      ),
    ),
  ).toEqual([]);
  expect(consentTo(exceptions)).toBe('yes despite 1 3');
  expect(consentTo([])).toBe('yes');
});

test('the signing threshold is entered by the user, and must be a majority', () => {
  expect(() => thresholdOf(undefined, 3)).toThrow('signingThreshold');
  for (const text of ['1', '4', '', 'two', '2.5', '22']) expect(() => thresholdOf(text, 3)).toThrow('2 to 3');
  expect([thresholdOf('2', 3), thresholdOf('3', 3), thresholdOf('4', 5)]).toEqual([2, 3, 4]);
});
