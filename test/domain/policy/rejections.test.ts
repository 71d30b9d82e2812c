import { expect, test } from 'vitest';
import type { Device } from '#domain/access/device.ts';
import { newPolicyChangeId, parseDeviceKeyId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { decideChange, isExcluded } from '#domain/policy/policy-change.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { countedApprovers } from '#domain/policy/counted-approvals.ts';
import type { Actor } from '#domain/access/approval.ts';
import { actor, CREATED_AT_MS, DIGEST, EXPIRES_AT_MS, NOON_MS, policy } from '../cast.ts';

/**
 * Covers when rejections end a policy change, and which decisions of a removed signer count. A word
 * such as `a+` is an approval of signer a, and `b-` is a rejection of signer b.
 */

const SIGNERS: Readonly<Record<string, Actor>> = Object.fromEntries(
  [...'abcde'].map((name, i) => [name, actor(i + 1)]),
);
const signerOf = (name: string): Actor => SIGNERS[name] ?? actor(9);
const idsOf = (names: string) => [...names].map((name) => signerOf(name).userId);

/** Returns a policy of these signers. The first one alone has the required device, if any. */
function policyOf(names: string, threshold: number, withRequiredDevice = false): Policy {
  const base = { ...policy, signers: idsOf(names), threshold };
  if (!withRequiredDevice) return base;
  const devices = [...names].map((name, i) => deviceOf(name, i === 0 ? 'ed25519' : 'webauthn-p256'));
  return { ...base, approvalMode: 'device', devices, rules: { ...NO_RULES, requiredDevice: 'ed25519' } };
}

function deviceOf(name: string, algorithm: Device['algorithm']): Device {
  const keyId = parseDeviceKeyId(`dev_${name.repeat(32)}`);
  if (keyId === null) throw new Error('the id must parse');
  const key = { keyId, userId: signerOf(name).userId, publicKey: '00' };
  if (algorithm === 'ed25519') return { ...key, algorithm };
  return { ...key, algorithm, credentialId: 'A'.repeat(22), rpId: 'example.com', origin: 'https://example.com' };
}

/** Returns a change of this policy after which these signers remain. */
function changeOf(current: Policy, remaining: string, differences: Partial<PolicyChange> = {}): PolicyChange {
  return {
    id: newPolicyChangeId(CREATED_AT_MS, new Uint8Array(10)),
    policy: { ...current, version: 2, signers: idsOf(remaining), threshold: 1 },
    note: null,
    createdAtMs: CREATED_AT_MS,
    expiresAtMs: EXPIRES_AT_MS,
    decisionEndsAtMs: EXPIRES_AT_MS,
    digest: DIGEST,
    requiredApprovals: current.threshold,
    state: 'PENDING',
    approvals: [],
    rejections: [],
    createdBy: null,
    updatedAtMs: CREATED_AT_MS,
    ...differences,
  };
}

function decided(change: PolicyChange, current: Policy, word: string): PolicyChange | string {
  const [name = '', sign = ''] = word;
  const device = current.devices.find(({ userId }) => userId === signerOf(name).userId) ?? null;
  const signature = device === null ? null : { keyId: device.keyId, signature: 'AA', assertion: null };
  const types = { '+': 'approve', '-': 'reject', x: 'cancel' } as const;
  const type = types[sign as keyof typeof types];
  const event =
    type === 'cancel' ? ({ type, actor: signerOf(name) } as const) : { type, actor: signerOf(name), device: signature };
  const result = decideChange(change, event, { current, nowMs: NOON_MS });
  return result.ok ? result.value : result.refusal.code;
}

/** Returns the change after these decisions, of which a refused one changes nothing. */
function after(change: PolicyChange, current: Policy, words: string): PolicyChange {
  let now = change;
  for (const word of words.split(' ').filter((one) => one !== '')) {
    const next = decided(now, current, word);
    if (typeof next !== 'string') now = next;
  }
  return now;
}

const [TWO_OF_THREE, THREE_OF_FIVE, TWO_OF_TWO] = [policyOf('abc', 2), policyOf('abcde', 3), policyOf('ab', 2)];
const REQUIRED_DEVICE = policyOf('abc', 2, true);

test.each<readonly [string, string, string, Policy, string]>([
  // The change, the decisions, the state, the policy in force, and the signers after the change.
  ['2 of 3', 'b-', 'PENDING', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'b- b- b-', 'PENDING', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'b- c-', 'REJECTED', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'b- a+ c+', 'ADOPTED', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'a+ a- b+', 'PENDING', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'a+ a- b-', 'REJECTED', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'a- a+ b-', 'PENDING', TWO_OF_THREE, 'abc'],
  ['2 of 3', 'a- a+ b+', 'ADOPTED', TWO_OF_THREE, 'abc'],
  ['2 of 3 that removes b', 'b- a+ c+', 'ADOPTED', TWO_OF_THREE, 'ac'],
  ['2 of 3 that removes b', 'b+ a+', 'PENDING', TWO_OF_THREE, 'ac'],
  ['2 of 3 that removes b', 'c-', 'REJECTED', TWO_OF_THREE, 'ac'],
  ['2 of 3 that removes b and c', 'a+ b+', 'ADOPTED', TWO_OF_THREE, 'a'],
  ['2 of 3 that removes b and c', 'b-', 'PENDING', TWO_OF_THREE, 'a'],
  ['2 of 3 that removes b and c', 'b- c-', 'REJECTED', TWO_OF_THREE, 'a'],
  ['3 of 5', 'a- b-', 'PENDING', THREE_OF_FIVE, 'abcde'],
  ['3 of 5', 'a- b- c-', 'REJECTED', THREE_OF_FIVE, 'abcde'],
  ['3 of 5', 'a- b- c+ d+ e+', 'ADOPTED', THREE_OF_FIVE, 'abcde'],
  ['3 of 5 that removes a', 'a- b-', 'PENDING', THREE_OF_FIVE, 'bcde'],
  ['3 of 5 that removes a', 'a+ b+ c+', 'PENDING', THREE_OF_FIVE, 'bcde'],
  ['3 of 5 that removes a', 'b- c-', 'REJECTED', THREE_OF_FIVE, 'bcde'],
  ['3 of 5 that removes a and b', 'a- b- c+ d+ e+', 'ADOPTED', THREE_OF_FIVE, 'cde'],
  ['2 of 2', 'b-', 'REJECTED', TWO_OF_TWO, 'ab'],
  ['2 of 2 that removes b', 'a+', 'PENDING', TWO_OF_TWO, 'a'],
  ['2 of 2 that removes b', 'a+ b+', 'ADOPTED', TWO_OF_TWO, 'a'],
  ['2 of 2 that removes b', 'b-', 'REJECTED', TWO_OF_TWO, 'a'],
  ['a required device of a', 'a-', 'REJECTED', REQUIRED_DEVICE, 'abc'],
  ['a required device of a', 'b-', 'PENDING', REQUIRED_DEVICE, 'abc'],
  ['a required device of a', 'b+ c+', 'PENDING', REQUIRED_DEVICE, 'abc'],
  ['a required device of a, who is removed', 'b+ a+', 'ADOPTED', REQUIRED_DEVICE, 'bc'],
  ['a required device of a, who is removed', 'a-', 'REJECTED', REQUIRED_DEVICE, 'bc'],
])('%s: after the decisions %s the change is %s', (_, words, state, current, remaining) => {
  expect(after(changeOf(current, remaining), current, words).state).toBe(state);
});

test('a removed signer can neither approve, reject nor cancel, and the others can', () => {
  const removal = changeOf(TWO_OF_THREE, 'ac');
  for (const word of ['b+', 'b-', 'bx']) {
    expect([word, decided(removal, TWO_OF_THREE, word)]).toEqual([word, 'removed-by-change']);
  }
  for (const word of ['a+', 'a-', 'ax']) {
    expect([word, typeof decided(removal, TWO_OF_THREE, word)]).toEqual([word, 'object']);
  }
});

test('a removed signer counts where the others cannot adopt the change', () => {
  const excluded = (current: Policy, remaining: string) =>
    isExcluded(changeOf(current, remaining), signerOf('b').userId, current);
  expect(excluded(TWO_OF_THREE, 'ac')).toBe(true);
  expect(excluded(TWO_OF_TWO, 'a')).toBe(false);
  expect(excluded(TWO_OF_THREE, 'abc')).toBe(false);
  expect(isExcluded(changeOf(TWO_OF_THREE, 'ac'), actor(9).userId, TWO_OF_THREE)).toBe(false);
});

test('a renewal removes no signer, because its policy was adopted before', () => {
  const renewal = changeOf(TWO_OF_THREE, 'ac', { renewsVersion: 2 });
  expect(after(renewal, TWO_OF_THREE, 'b+ a+').state).toBe('ADOPTED');
});

test('a rejection withdraws the approval of its signer, and a later approval withdraws the rejection', () => {
  const rejected = after(changeOf(TWO_OF_THREE, 'abc'), TWO_OF_THREE, 'a+ a- a-');
  expect([rejected.approvals, rejected.rejections.map(({ actor: { userId } }) => userId)]).toEqual([[], idsOf('a')]);
  const approved = after(rejected, TWO_OF_THREE, 'a+');
  expect([approved.approvals.length, approved.rejections]).toEqual([1, []]);
});

test('a repeated rejection returns the same change, before and after its end', () => {
  const rejected = after(changeOf(TWO_OF_THREE, 'abc'), TWO_OF_THREE, 'b-');
  expect(decided(rejected, TWO_OF_THREE, 'b-')).toBe(rejected);
  const ended = after(rejected, TWO_OF_THREE, 'c-');
  expect([decided(ended, TWO_OF_THREE, 'b-'), decided(ended, TWO_OF_THREE, 'c-')]).toEqual([ended, ended]);
  expect(decided(ended, TWO_OF_THREE, 'a-')).toBe('policy-change-not-pending');
});

/** All sequences of at most four decisions of three signers. */
const WORDS = ['a+', 'a-', 'b+', 'b-', 'c+', 'c-'];
const SEQUENCES = WORDS.flatMap((one) =>
  WORDS.flatMap((two) => WORDS.flatMap((three) => WORDS.map((four) => [one, two, three, four].join(' ')))),
);

test.each(['abc', 'ab', 'ac', 'a', 'c'])(
  'the coordinator adopts no change to %s that a co-signer would refuse',
  (remaining) => {
    for (const threshold of [1, 2, 3]) {
      const current = policyOf('abc', threshold);
      for (const words of SEQUENCES) {
        const { state, approvals, digest } = after(changeOf(current, remaining), current, words);
        const counted = countedApprovers(digest, approvals, current).size;
        expect([words, state === 'ADOPTED' && counted < threshold]).toEqual([words, false]);
      }
    }
  },
);

test.each(['abc', 'ab', 'ac', 'a', 'c'])('a change to %s that is pending can still be adopted', (remaining) => {
  for (const threshold of [1, 2, 3]) {
    const current = policyOf('abc', threshold);
    for (const words of SEQUENCES) {
      const pending = after(changeOf(current, remaining), current, words);
      if (pending.state !== 'PENDING') continue;
      const rejecters = pending.rejections.map(({ actor: { userId } }) => userId);
      const rest = [...'abc'].filter((name) => !rejecters.includes(signerOf(name).userId)).map((name) => `${name}+`);
      expect([words, after(pending, current, rest.join(' ')).state]).toEqual([words, 'ADOPTED']);
    }
  }
});
