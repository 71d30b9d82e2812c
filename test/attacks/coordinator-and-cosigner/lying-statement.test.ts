/**
 * Attack: hostile co-signers state a policy that no honest co-signer has in force, to obtain
 *   approvals under it.
 * Attacker: coordinator-and-cosigner
 * Co-signers: f
 * Finding: 2.7
 * Defence: a device signs only if at least t co-signers agree, so that one of them is honest, and
 *   if the person names every co-signer that does not agree.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatementVerdict } from '#devices/statement.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { byDevice, founded } from '../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { newKey, startCosigners } from '../../cosigner/cosigners.ts';
import { decisionOn, inWords, liar, pinsOf, showTo, signer, stricter } from '../statement-scene.ts';

let cosigners: Cosigners;
let key: VaultKey;
let pins: readonly CosignerPin[];
const change = stricter(byDevice);
const next = change.policy;

beforeAll(async () => {
  cosigners = await startCosigners();
  pins = await pinsOf(cosigners);
  key = await newKey(cosigners.all, { governedBy: byDevice });
});
afterAll(() => cosigners.stop());

/** Returns alice, to whom the coordinator shows the new policy. */
const alice = () => signer(pins, { keyId: key.keyId, policy: next });
const lying = (index: number) => liar(cosigners, index, { keyId: key.keyId, states: next });
const decided = (verdicts: readonly StatementVerdict[], threshold: number) =>
  decisionOn(verdicts, { policies: [byDevice, next], threshold });

test('one lying co-signer of 2 of 3 cannot make a false policy appear in force', async () => {
  const [first, , third] = cosigners.all;
  const shown = await alice().request([first, lying(2), third]);
  expect(inWords(shown)).toEqual(['disagrees', 'agrees', 'disagrees']);
  expect(decided(shown, 2)).toBe('too-few-agree');
  // The coordinator omits the honest statements.
  const alone = await alice().request([lying(2)]);
  expect(inWords(alone)).toEqual(['unknown: missing', 'agrees', 'unknown: missing']);
  expect(decided(alone, 2)).toBe('too-few-agree');
});

test('two lying co-signers of 3 of 3 cannot make a false policy appear in force', async () => {
  const shown = await alice().request([lying(1), lying(2), ...cosigners.some(3)]);
  expect(inWords(shown)).toEqual(['agrees', 'agrees', 'disagrees']);
  expect(decided(shown, 3)).toBe('too-few-agree');
  // With a pinned threshold of 2, which is false for 3 of 3, the two false statements would
  // convince the signer.
  expect(decided(shown, 2)).toEqual(['3:behind']);
});

test('a lying co-signer cannot give a statement for another one', async () => {
  const both = await alice().request([lying(2)], ([own]) => {
    if (own === undefined || own.statement === null) throw new Error('the liar states something');
    return [own, { ...own, cosigner: 1 }, { ...own, cosigner: 3, statement: { ...own.statement, cosigner: 3 } }];
  });
  expect(inWords(both)).toEqual(['unknown: other-cosigner', 'agrees', 'unknown: bad-signature']);
  expect(decided(both, 2)).toBe('too-few-agree');
});

test('a signer signs only with t agreements, of which one is by an honest co-signer', async () => {
  await showTo(cosigners.some(1), [founded(byDevice), change], cosigners.all);
  const [first, , third] = cosigners.all;
  const enough = await alice().request([first, lying(2)]);
  expect(inWords(enough)).toEqual(['agrees', 'agrees', 'unknown: missing']);
  expect(decided(enough, 2)).toEqual(['3:unknown']);
  // With 3 of 3, two co-signers may be hostile, so two agreements prove nothing.
  expect(decided(enough, 3)).toBe('too-few-agree');
  const all = await alice().request([first, lying(2), third]);
  expect(decided(all, 2)).toEqual(['3:behind']);
});
