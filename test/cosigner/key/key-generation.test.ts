import { expect, test } from 'vitest';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { parseKeyId, parseVaultId } from '#domain/id.ts';
import { refused } from '#domain/result.ts';
import type { KeyCandidate } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { nextKeyStep } from '#jobs/keys/generate-key.ts';
import { changeTo, LAPTOP, PHONE } from '../../attacks/policy-scene.ts';
import { byDevice, founded } from '../policy/device-scene.ts';
import { inTurn } from '../../setup/turns.ts';
import { generateKey, twoOfThree } from './generate-key.ts';
import { Cut, cutAt, cutsOf } from '../session/interrupted-client.ts';
import { policy } from '../../domain/cast.ts';
import { sourceOf } from '../policy-source.ts';
import { present } from '../cosigners.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';

/**
 * Tests key generation in steps, each started by a message of its own, among three co-signers that
 * have not paired.
 */

const cosigners = cosignersInMemory();

/**
 * The maximum number of calls in one step. A Worker may make 32 calls through service bindings in
 * one invocation (a limit of Cloudflare), and needs some of them for other work.
 */
const MAX_CALLS = 24;

/** Returns the request of a coordinator for a key under the first policy of the cast. */
const requestFor = (scheme: KeyScheme) => ({ scheme, policies: sourceOf(founded(policy)) });

async function countedStep(scheme: KeyScheme, candidate: KeyCandidate | null) {
  let calls = 0;
  cosigners.watch(() => void (calls += 1));
  const step = await nextKeyStep(cosigners.all, requestFor(scheme), candidate);
  cosigners.watch(() => {});
  if (!step.ok) throw new Error(step.refusal.reason);
  expect(calls).toBeLessThanOrEqual(MAX_CALLS);
  return step.value;
}

test('every step of the first key and of one key of each other scheme stays below the limit of calls', async () => {
  const names: string[] = [];
  for (const scheme of KEY_SCHEMES) {
    let candidate: KeyCandidate | null = null;
    for (let done = false; !done;) {
      const step: Awaited<ReturnType<typeof countedStep>> = await countedStep(scheme, candidate);
      names.push(step.type);
      if (step.type === 'candidate') ({ candidate } = step);
      done = step.type === 'key';
      if (step.type === 'key') expect(step.key.keyId).toBe(present(candidate).keyId);
    }
  }
  const generated = ['candidate', 'candidate', 'candidate', 'key'];
  expect(names).toEqual(['prepared', 'prepared', 'prepared', 'prepared', ...generated, ...generated, ...generated]);
});

/** Returns a candidate that no group of co-signers has proven. */
async function fresh(scheme: KeyScheme): Promise<KeyCandidate> {
  const step = await countedStep(scheme, null);
  if (step.type !== 'candidate') throw new Error(step.type);
  return step.candidate;
}

test('a candidate is kept while a co-signer is unreachable, and its generation continues later', async () => {
  const candidate = await fresh('frost-ed25519');
  const first = await countedStep('frost-ed25519', candidate);
  if (first.type !== 'candidate') throw new Error(first.type);
  expect(first.candidate.provenBy).toEqual(['1+2']);
  const unreachable: CosignerClient = {
    index: present(cosigners.all[2]).index,
    call: async () =>
      refused({ cosigner: present(cosigners.all[2]).index, code: 'unreachable', detail: null, culprit: null }),
  };
  const without = await nextKeyStep(
    [...cosigners.some(1, 2), unreachable],
    requestFor('frost-ed25519'),
    first.candidate,
  );
  expect(without).toMatchObject({ ok: false, refusal: { isUseless: false } });
  await cosigners.restart();
  const second = await countedStep('frost-ed25519', first.candidate);
  expect(second).toMatchObject({ type: 'candidate', candidate: { keyId: candidate.keyId, provenBy: ['1+2', '1+3'] } });
});

test('a candidate with which a co-signer cannot sign is reported as useless', async () => {
  const candidate = await fresh('frost-ed25519');
  const lost = await nextKeyStep(cosigners.all, requestFor('frost-ed25519'), { ...candidate, ...NOBODYS });
  expect(lost).toMatchObject({ ok: false, refusal: { isUseless: true } });
  const other = await fresh('frost-ed25519');
  const wrong = { ...candidate, publicKey: other.publicKey };
  const unverified = await nextKeyStep(cosigners.all, requestFor('frost-ed25519'), wrong);
  expect(unverified).toMatchObject({ ok: false, refusal: { isUseless: true } });
});

/** A key id under which no co-signer has a share. */
const NOBODYS = { keyId: present(parseKeyId('b'.repeat(26))) };

test('a key generation that is cut off at any call, with all memory lost, ends with a key at the next attempt', async () => {
  let calls = 0;
  cosigners.watch(() => void (calls += 1));
  const whole = await generateKey(cosigners.all, twoOfThree('frost-ed25519'));
  cosigners.watch(() => {});
  expect([whole.ok, calls > 25]).toEqual([true, true]);
  for (const cut of inTurn(cutsOf(calls), 18)) {
    await expect(generateKey(cutAt(cosigners.all, cut), twoOfThree('frost-ed25519'))).rejects.toThrow(Cut);
    await cosigners.restart();
    const made = await generateKey(cosigners.all, twoOfThree('frost-ed25519'));
    expect([cut, made.ok]).toEqual([cut, true]);
  }
});

test('a co-signer that has more policies than the coordinator gives them up only before it has a key', async () => {
  const first = founded({ ...byDevice, vaultId: present(parseVaultId(9)) });
  const previousHash = policyHashOf(first.policy);
  const further = changeTo({ ...first.policy, version: 2, previousHash, threshold: 1 }, [LAPTOP, PHONE]);
  const all = { targets: cosigners.all, attesters: cosigners.all };
  const generated = () => generateKey(cosigners.all, { scheme: 'frost-ed25519', policies: [first] });
  await bringPolicies(sourceOf(first), { ...all, targets: cosigners.some(1, 3) });
  await bringPolicies(sourceOf(first, further), { ...all, targets: cosigners.some(2) });
  const ahead = { ok: false, refusal: { reason: expect.stringContaining('policy-ahead'), isUseless: false } };
  expect(await generated()).toMatchObject(ahead);
  expect(await generated()).toMatchObject({ ok: true });
  expect(await bringPolicies(sourceOf(first, further), all)).toMatchObject({ versions: { '1': 2, '2': 2, '3': 2 } });
  expect(await generated()).toMatchObject(ahead);
  expect(await generated()).toMatchObject(ahead);
});
