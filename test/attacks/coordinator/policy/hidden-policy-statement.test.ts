/**
 * Attack: the coordinator hides a policy change from a co-signer, and forges, replays or omits
 *   its statements.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.7
 * Defence: a co-signer signs which policy it has in force, over the verifier's nonce, and devices
 *   verify the statement with pinned keys.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { STATEMENT_TTL_MS } from '#domain/policy/statement.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { DeliveredStatement } from '#cosigner-client/policy-statements.ts';
import { policyStatements } from '#cosigner-client/policy-statements.ts';
import { byDevice, founded } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { newKey, present, startCosigners } from '../../../cosigner/cosigners.ts';
import { hashOf } from '../../../devices/policy-links-scene.ts';
import { decisionOn, inWords, pinsOf, showTo, signer, stricter } from '../../statement-scene.ts';

let cosigners: Cosigners;
let key: VaultKey;
let otherKey: VaultKey;
let pins: readonly CosignerPin[];
const change: AdoptedPolicy = stricter(byDevice);
const next = change.policy;

beforeAll(async () => {
  cosigners = await startCosigners();
  pins = await pinsOf(cosigners);
  key = await newKey(cosigners.all, { governedBy: byDevice });
  otherKey = await newKey(cosigners.all, { governedBy: byDevice });
  await showTo(cosigners.some(1, 2), [founded(byDevice), change]);
});
afterAll(() => cosigners.stop());

const alice = () => signer(pins, { keyId: key.keyId, policy: next });

/** Returns the entries with changes by the attacker to the entry of co-signer 3. */
const withThird =
  (differences: Partial<DeliveredStatement>) =>
  (entries: readonly DeliveredStatement[]): readonly DeliveredStatement[] =>
    entries.map((entry) => (entry.cosigner === 3 ? { ...entry, ...differences } : entry));

/** Returns a statement of co-signer 3 that the attacker has collected. */
async function collected(keyId: string, nonce: string): Promise<SignedStatement> {
  const [entry] = await policyStatements(cosigners.some(3), [keyId], nonce);
  return present(entry?.statement);
}

test('a signer sees that co-signer 3 still has version 1 in force, and must name it before the device signs', async () => {
  const verdicts = await alice().request(cosigners.all);
  expect(verdicts).toEqual([
    { verdict: 'agrees', cosigner: 1 },
    { verdict: 'agrees', cosigner: 2 },
    { verdict: 'disagrees', cosigner: 3, policyVersion: 1, policyHash: hashOf(byDevice) },
  ]);
  expect(decisionOn(verdicts, { policies: [byDevice, next], threshold: 2 })).toEqual(['3:behind']);
  expect(decisionOn(verdicts, { policies: [byDevice, next], threshold: 3 })).toBe('too-few-agree');
});

test('an omitted or duplicated statement counts as unknown', async () => {
  const request = async (tamper: (entries: readonly DeliveredStatement[]) => readonly DeliveredStatement[]) =>
    inWords(await alice().request(cosigners.all, tamper)).at(-1);
  expect(await request(withThird({ statement: null, fault: 'unreachable' }))).toBe('unknown: missing');
  expect(await request((entries) => entries.slice(0, 2))).toBe('unknown: missing');
  expect(await request((entries) => [...entries, ...entries])).toBe('unknown: repeated');
});

test('a forged statement counts as unknown', async () => {
  const forged = { policyVersion: next.version, policyHash: hashOf(next) };
  const verdicts = await alice().request(cosigners.all, (entries) =>
    entries.map((entry) =>
      entry.statement === null || entry.cosigner !== 3
        ? entry
        : { ...entry, statement: { ...entry.statement, ...forged } },
    ),
  );
  expect(inWords(verdicts)).toEqual(['agrees', 'agrees', 'unknown: bad-signature']);
  const borrowed = await alice().request(cosigners.all, (entries) => {
    const second = present(entries.find(({ cosigner }) => cosigner === 2)?.statement);
    return withThird({ statement: { ...second, cosigner: 3 } })(entries);
  });
  expect(inWords(borrowed).at(-1)).toBe('unknown: bad-signature');
});

test('a replayed statement of another key, another nonce or another time counts as unknown', async () => {
  const person = alice();
  // Co-signer 3 honestly states version 1 for both keys. Its statements for another key or an
  // earlier nonce do not count.
  const nonce = person.draw();
  const [mine, others] = [
    await policyStatements(cosigners.all, [key.keyId], nonce),
    await collected(otherKey.keyId, nonce),
  ];
  expect(others).toMatchObject({ policyVersion: 1, policyHash: hashOf(byDevice) });
  const replayed = (statement: SignedStatement, nowMs?: number) =>
    inWords(person.verdicts(withThird({ statement })(mine), nonce, nowMs)).at(-1);
  expect(replayed(others)).toBe('unknown: other-key');
  expect(replayed({ ...others, keyId: key.keyId })).toBe('unknown: bad-signature');
  expect(replayed(await collected(key.keyId, person.draw()))).toBe('unknown: other-nonce');
  const own = await collected(key.keyId, nonce);
  expect(replayed(own)).toBe('disagrees');
  expect(replayed(own, own.issuedAtMs + STATEMENT_TTL_MS + 1)).toBe('unknown: too-old');
});

test('a signer who is shown the earlier policy learns that two co-signers have a later one, and does not sign', async () => {
  const shown = await signer(pins, { keyId: key.keyId, policy: byDevice }).request(cosigners.all);
  expect(inWords(shown)).toEqual(['disagrees', 'disagrees', 'agrees']);
  expect(decisionOn(shown, { policies: [byDevice], threshold: 2 })).toBe('too-few-agree');
});

test('the device signs with two co-signers once the third is named, and after the change all three agree', async () => {
  const two = await alice().request(cosigners.some(1, 2));
  expect(inWords(two)).toEqual(['agrees', 'agrees', 'unknown: missing']);
  expect(decisionOn(two, { policies: [byDevice, next], threshold: 2 })).toEqual(['3:unknown']);
  await showTo(cosigners.some(3), [founded(byDevice), change], cosigners.all);
  const three = await alice().request(cosigners.all);
  expect(inWords(three)).toEqual(['agrees', 'agrees', 'agrees']);
  expect(decisionOn(three, { policies: [byDevice, next], threshold: 2 })).toEqual([]);
});
