import { expect, test } from 'vitest';
import type { PolicyLinkBytes } from '#devices/policy-links.ts';
import { pinsUnder, readPolicyChain } from '#devices/policy-links.ts';
import { successionFault } from '#devices/policy-succession.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { byDevice } from '../cosigner/policy/device-scene.ts';
import { alice, amount, bob, carol, mallory, policy, vaultId } from '../domain/cast.ts';
import { byLaptop, byPhone, changed, creation, hashOf, mandateFor, successor, unsigned } from './policy-links-scene.ts';
import { paperCosigner } from './statement-scene.ts';

const pinsOf = () => [1, 2, 3].map((index) => paperCosigner(index).pin);
const [old, fresh] = [pinsOf(), pinsOf()];
const first: Policy = { ...byDevice, cosigners: old };
const rotated = successor(first, { cosigners: fresh });

const read = (...documents: readonly PolicyLinkBytes[]) => readPolicyChain(vaultId, documents);

function linksOf(...documents: readonly PolicyLinkBytes[]) {
  const links = read(...documents);
  if (!links.ok) throw new Error(links.refusal);
  return links.value;
}

/**
 * Returns the pins of a device that has verified the first policy, after this chain; or the reason
 * of the refusal.
 */
async function pinsAfter(...documents: readonly PolicyLinkBytes[]) {
  const known = { version: 1, hash: hashOf(first) };
  const found = await pinsUnder({ pins: old, policy: known }, linksOf(...documents));
  return found.ok ? found.value : found.refusal;
}

test('a chain is read in order, and each policy names its predecessor', () => {
  const links = linksOf(creation(first), changed(rotated));
  expect(links.map(({ policy: one, hash }) => [one.version, hash])).toEqual([
    [1, hashOf(first)],
    [2, hashOf(rotated)],
  ]);
});

test('a chain with a gap, another history, another vault or another mandate is refused', () => {
  const third = successor(rotated);
  expect(read(creation(first), changed(third))).toMatchObject({ refusal: 'broken-chain' });
  expect(read(creation({ ...first, threshold: 1 }), changed(rotated))).toMatchObject({ refusal: 'broken-chain' });
  expect(read(changed(rotated), creation(first))).toMatchObject({ refusal: 'broken-chain' });
  const other = parseVaultId(8);
  if (other === null) throw new Error('8 is a vault id');
  expect(read(creation({ ...first, vaultId: other }))).toMatchObject({ refusal: 'other-vault' });
  const swapped = { policy: policyBytes(rotated), mandate: mandateFor(third) };
  expect(read(creation(first), swapped)).toMatchObject({ refusal: 'other-mandate' });
  expect(read({ policy: policyBytes(first).subarray(1), mandate: null })).toMatchObject({ refusal: 'malformed' });
});

test('pins follow a policy that the quorum of its predecessor has approved with device signatures', async () => {
  expect(await pinsAfter(creation(first), changed(rotated))).toEqual(fresh);
  const more = successor(rotated, { threshold: 3 });
  expect(await pinsAfter(creation(first), changed(rotated), changed(more))).toEqual(fresh);
});

test('pinned co-signer keys stay when the next policy names the same co-signers or no co-signers', async () => {
  const { cosigners: _, ...unpinned } = successor(first);
  expect(await pinsAfter(creation(first))).toEqual(old);
  expect(await pinsAfter(creation(first), changed(successor(first, { threshold: 3 }), []))).toEqual(old);
  expect(await pinsAfter(creation(first), changed(unpinned, []))).toEqual(old);
});

test("pins do not follow a policy without the approvals of its predecessor's quorum", async () => {
  const refusals = await Promise.all([
    pinsAfter(creation(first), changed(rotated, [byLaptop])),
    pinsAfter(creation(first), changed(rotated, [byLaptop, byLaptop])),
    pinsAfter(creation(first), changed(rotated, [unsigned(alice), unsigned(bob), unsigned(carol)])),
    pinsAfter(creation(first), changed(rotated, [unsigned(mallory), byPhone])),
    pinsAfter(creation(first), creation(rotated)),
    // The approvals belong to another policy change.
    pinsAfter(creation(first), {
      ...changed(rotated),
      mandate: { ...mandateFor(rotated), approvals: mandateFor(successor(first, { threshold: 3 })).approvals },
    }),
  ]);
  expect(refusals).toEqual(refusals.map(() => 'unproven-pins'));
});

test('pins do not follow a policy out of token mode, where only the coordinator states the approvals', async () => {
  const byToken: Policy = { ...policy, cosigners: old };
  const next = successor(byToken, { cosigners: fresh });
  const links = linksOf(creation(byToken), changed(next));
  const pinned = { pins: old, policy: { version: 1, hash: hashOf(byToken) } };
  expect(await pinsUnder(pinned, links)).toEqual({ ok: false, refusal: 'unproven-pins' });
});

test('pins do not follow a chain that is older than the verified one, or that differs from it', async () => {
  const links = linksOf(creation(first), changed(rotated));
  const under = (version: number, hash: string) => pinsUnder({ pins: old, policy: { version, hash } }, links);
  expect(await under(3, hashOf(rotated))).toEqual({ ok: false, refusal: 'older-policy' });
  expect(await under(1, hashOf(rotated))).toEqual({ ok: false, refusal: 'other-history' });
  // The policy that the device has verified already names other co-signer keys than the pinned
  // ones.
  expect(await under(2, hashOf(rotated))).toEqual({ ok: false, refusal: 'unproven-pins' });
  expect(await pinsUnder({ pins: old, policy: { version: 1, hash: hashOf(first) } }, [])).toEqual({
    ok: false,
    refusal: 'older-policy',
  });
});

test('a successor needs as many approvals as the strictest rule of its predecessor, and its required device', async () => {
  const step = { chain: 'eip155:31337', tokenAddress: null, above: amount('3'), threshold: 3 };
  const stepped: Policy = { ...first, rules: { ...first.rules, higherThresholds: [step] } };
  const next = successor(stepped);
  expect(await successionFault(stepped, next, mandateFor(next))).toBe('not-enough-approvals');
  const picky: Policy = { ...first, threshold: 1, rules: { ...first.rules, requiredDevice: 'ed25519' } };
  const after = successor(picky);
  expect(await successionFault(picky, after, mandateFor(after, [byPhone]))).toBe('required-device-missing');
  expect(await successionFault(picky, after, mandateFor(after, [byLaptop]))).toBeNull();
  expect(await successionFault(first, successor(rotated), mandateFor(successor(rotated)))).toBe('not-the-next');
  expect(await successionFault(first, rotated, null)).toBe('no-mandate');
  const fewer = successor(first, { signingThreshold: 3 });
  expect(await successionFault(first, fewer, mandateFor(fewer))).toBe('signing-threshold-changed');
});
