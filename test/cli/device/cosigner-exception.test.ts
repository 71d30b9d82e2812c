import { expect, test } from 'vitest';
import type { CosignerAgreement, Agreement } from '#devices/cosigner-agreement.ts';
import { consentTo, optionsFor, parseExceptions, unnamed } from '#cli/device/cosigner-exception.ts';
import { thresholdOf } from '#cli/device/cosigner-pins.ts';

const one = (cosigner: number, agreement: Agreement): CosignerAgreement => ({ cosigner, agreement, detail: '' });

test('a co-signer is named with its statement, and a name for one statement does not cover another', () => {
  const named = parseExceptions(['3:unknown']);
  expect(unnamed([one(3, 'unknown')], named)).toEqual([]);
  expect(unnamed([one(3, 'later-version')], named)).toHaveLength(1);
  expect(unnamed([one(2, 'unknown'), one(3, 'unknown')], named)).toEqual([one(2, 'unknown')]);
  expect(unnamed([one(3, 'unknown')], parseExceptions([]))).toHaveLength(1);
});

test('a name has the number and the standing, and nothing else', () => {
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

test('the command shows the options and the answer that name the co-signers', () => {
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

test('the number of co-signers that sign together is entered, and is a majority', () => {
  expect(() => thresholdOf(undefined, 3)).toThrow('signingThreshold');
  for (const text of ['1', '4', '', 'two', '2.5', '22']) expect(() => thresholdOf(text, 3)).toThrow('2 to 3');
  expect([thresholdOf('2', 3), thresholdOf('3', 3), thresholdOf('4', 5)]).toEqual([2, 3, 4]);
});
