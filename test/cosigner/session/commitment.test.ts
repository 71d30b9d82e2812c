import { randomBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { alice, bob, NOON_MS, policy } from '../../domain/cast.ts';
import { next, QUOTE, request, approvalsBy } from '../policy/check-scene.ts';
import { KEY_ID, pausedSignature } from './last-round-scene.ts';
import { HONEST, MALLORY } from './sessions-scene.ts';

/**
 * Tests that a co-signer checks its records again when a session starts and writes its row: another
 * signature or policy change since the opening may forbid it.
 */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

async function scene() {
  const { storage, vault, cosignerKey, transfer } = await pausedSignature(policy);
  const intent = transfer(policy);
  const at = (nonce: bigint) => {
    const { payload } = composeTransaction(intent, QUOTE, nonce);
    return request({ payload, approvals: approvalsBy(intent, alice, bob) }, intent);
  };
  const opened = async (requested: SigningRequest): Promise<SessionPlan> => {
    const prepared = await cosignerKey.prepareSignature(KEY_ID, [HONEST, MALLORY], requested);
    if (!prepared.ok) throw new Error(prepared.refusal.code);
    return prepared.value;
  };
  const rows = () => storage.signed.recordsOf(intent.transactionId).map(({ nonce }) => nonce);
  return { vault, at, opened, rows };
}

/** Starts a session. Returns 'messages' when the session begins, or why it ends. */
async function started(preparation: SessionPlan): Promise<unknown> {
  const refused = await preparation.admit?.(new Map());
  if (refused !== null && refused !== undefined) return refused.code;
  const { step, next: following } = await preparation.begin(randomBytes(32)).run(new Map());
  return step.type === 'abort' ? { ...step.abort, goesOn: following !== null } : step.type;
}

const ended = (step: string) => ({ culprit: HONEST, step, ban: false, goesOn: false });

test('of two open sessions for two digests the second one to start ends, and no peer is banned', async () => {
  const { at, opened, rows } = await scene();
  const [first, second, same] = [await opened(at(4n)), await opened(at(5n)), await opened(at(4n))];
  expect(await started(first)).toBe('messages');
  expect(await started(second)).toEqual(ended('sign/second-digest'));
  expect(await started(same)).toBe('messages');
  expect(rows()).toEqual(['4']);
});

test('a session that was open when the policy changed ends at its start, and writes no row', async () => {
  const { vault, at, opened, rows } = await scene();
  const early = await opened(at(4n));
  vault.adopt([next(policy, { threshold: 1 })]);
  expect(await started(early)).toBe('session-over');
  expect(rows()).toEqual([]);
});
