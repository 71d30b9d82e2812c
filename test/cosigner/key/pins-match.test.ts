import { expect, test } from 'vitest';
import { pinsMatch } from '#cosigner/policy/policy-statement.ts';
import { party } from '../../mpc/dealt-key.ts';
import { present } from '../cosigners.ts';

test('pins match when they are the identity keys of all co-signers in order, and when no pins are given', () => {
  const keys = [1, 2, 3].map((index) => `${index}a`.repeat(32));
  const signingKeys = new Map(keys.map((signing, i) => [party(i + 1), signing]));
  const pins = keys.map((signing, i) => ({ index: i + 1, signing }));
  const [first, second, third] = [present(pins[0]), present(pins[1]), present(pins[2])];
  const match = (cosigners: typeof pins) => pinsMatch({ cosigners }, { signingKeys });
  expect(pinsMatch({}, { signingKeys })).toBe(true);
  expect(match(pins)).toBe(true);
  expect(match([first, second])).toBe(false);
  expect(match([...pins, { index: 4, signing: 'ab'.repeat(32) }])).toBe(false);
  expect(match([first, second, { ...third, signing: 'ab'.repeat(32) }])).toBe(false);
  expect(match([first, third, second])).toBe(false);
  expect(match([{ ...first, signing: second.signing }, { ...second, signing: first.signing }, third])).toBe(false);
  expect(match([])).toBe(false);
});
