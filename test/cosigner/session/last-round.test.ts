import { randomBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { prepareSigning } from '#cosigner/session/signing.ts';
import { signingEndsAtMs } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { dealt } from '../../mpc/frost/signing-room.ts';
import { alice, bob, carol, mallory, NOON_MS, policy } from '../../domain/cast.ts';
import { next, request, approvalsBy } from '../policy/check-scene.ts';
import { unpinnedPolicies } from '../vault-scene.ts';
import { KEY_ID, pausedSignature } from './last-round-scene.ts';
import { HONEST, MALLORY } from './sessions-scene.ts';

/** Tests that every check at the opening of a session is repeated before its last round. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

const NOT_ALLOWED = 'sign/not-allowed';

/**
 * Returns a transfer that alice and bob have approved, who are two of the signers of policy version
 * 1.
 */
async function approvedByTwo(governedBy: Policy = policy) {
  const paused = await pausedSignature(governedBy);
  const intent = paused.transfer(governedBy);
  return { ...paused, intent, request: request({ approvals: approvalsBy(intent, alice, bob) }, intent) };
}

test('the last round signs when nothing changes in the pause before it', async () => {
  const { sign, request: signing } = await approvedByTwo();
  expect(await sign(signing, async () => {})).toBe('signs');
});

test('a key whose vault lost its policies signs under none that the coordinator chose', async () => {
  const { sign, transfer, cosignerKey } = await pausedSignature(policy, unpinnedPolicies(policy));
  const intent = transfer(policy);
  const requested = request({ approvals: approvalsBy(intent, alice, bob) }, intent);
  expect(await sign(requested, async () => {})).toBe('policy-behind');
  expect(await cosignerKey.receipt(KEY_ID, requested)).toMatchObject({ refusal: { code: 'policy-behind' } });
  const stated = await cosignerKey.state(KEY_ID, { nonce: 'ab'.repeat(32) });
  expect(stated).toMatchObject({ refusal: { code: 'unknown-key' } });
});

test.each<[string, Partial<Policy>, string]>([
  ['asks for one signer more', { threshold: 3 }, NOT_ALLOWED],
  ['no longer names bob', { signers: [alice.userId, carol.userId, mallory.userId] }, NOT_ALLOWED],
  ['forbids every transfer', { rules: { ...policy.rules, recipients: 'address-book' } }, NOT_ALLOWED],
  // The policy in force is part of the session. The next session signs under the new policy.
  ['asks for no more than there is', { signers: [alice.userId, bob.userId] }, NOT_ALLOWED],
])('the last round is refused after a policy that %s comes into force in the pause', async (_name, change, outcome) => {
  const { sign, request: signing, vault } = await approvedByTwo();
  expect(await sign(signing, async () => vault.adopt([next(policy, change)]))).toBe(outcome);
});

test.each([
  ['one millisecond before its end', -1, 'signs'],
  ['at its end', 0, NOT_ALLOWED],
  ['a year later', 365 * 24 * 3600 * 1000, NOT_ALLOWED],
])('the last round is signed or refused when it is requested %s', async (_name, differenceMs, outcome) => {
  const { sign, request: signing, intent } = await approvedByTwo();
  const at = signingEndsAtMs(intent) + differenceMs;
  expect(await sign(signing, async () => void vi.setSystemTime(at))).toBe(outcome);
});

test('the last round is refused when shares of another epoch come into use in the pause', async () => {
  const { sign, request: signing, refresh } = await approvedByTwo();
  expect(await sign(signing, refresh)).toBe(NOT_ALLOWED);
});

test.each(['frost-ed25519', 'frost-secp256k1-tr'] as const)(
  'a %s signature is checked again before the partial signature is computed',
  async (scheme) => {
    const room = dealt(scheme, 3, 2);
    const outcomes: string[] = [];
    for (const isAllowed of [true, false]) {
      const [honest, other] = [HONEST, MALLORY].map((self) =>
        prepareSigning(
          {
            share: room.shares.get(self)!,
            signers: [HONEST, MALLORY],
            messages: [randomBytes(32)],
            occasion: new Uint8Array(),
            commitTo: () => null,
            stillAllowed: async () => isAllowed,
          },
          new Map(),
        ),
      );
      const { step } = await honest!.begin(randomBytes(32)).run(new Map([[MALLORY, other!.opening!]]));
      outcomes.push(step.type === 'abort' ? step.abort.step : step.type);
    }
    expect(outcomes).toEqual(['result', NOT_ALLOWED]);
  },
);
