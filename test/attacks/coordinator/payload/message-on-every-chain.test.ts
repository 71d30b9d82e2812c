/**
 * Attack: the coordinator uses on another chain a message that signers approved for a test network.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 12, 13
 * Defence: co-signers refuse a message that names no chain if the policy says so, and otherwise the
 *   signers see a warning.
 */
import { expect, test } from 'vitest';
import { composeMessage } from '#chains/evm/rules/compose.ts';
import { readMessage } from '#chains/evm/rules/message.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import type { UnboundMessageRule } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { digestOf, pinned } from '../../../cosigner/policy/check-scene.ts';
import { byDevice, laptop, phone } from '../../../cosigner/policy/device-scene.ts';
import { alice, bob, messageIntent, NOON_MS } from '../../../domain/cast.ts';

const [SEPOLIA, MAINNET] = ['eip155:11155111', 'eip155:1'];

function under(unboundMessages: UnboundMessageRule): Policy {
  return { ...byDevice, rules: { ...byDevice.rules, unboundMessages } };
}

function typedData(domain: object): string {
  const types = { Order: [{ name: 'price', type: 'uint256' }] };
  return JSON.stringify({ types, primaryType: 'Order', domain, message: { price: '1' } });
}

const TEXT = 'I own this address';
const OPEN_ORDER = typedData({ name: 'Market' });
const SEPOLIA_ORDER = typedData({ name: 'Market', chainId: 11_155_111 });

/**
 * Returns the signing request of a test-network message that the devices of alice and bob have
 * approved.
 */
function approved(text: string, policy: Policy): SigningRequest & { readonly intent: MessageIntent } {
  const read = readMessage(SEPOLIA, text);
  if (!read.ok) throw new Error(read.refusal);
  const intent = { ...messageIntent(), ...read.value, chain: SEPOLIA, policyHash: policyHashOf(policy) };
  const digest = digestOf(intent);
  const approvals = [
    { actor: alice, digest, device: laptop.signed(digest), atMs: NOON_MS },
    { actor: bob, digest, device: phone.signed(digest), atMs: NOON_MS },
  ];
  const { payload } = composeMessage(intent);
  return { intent, payload, attempt: 1, purpose: 'intent', approvals, policyVersion: 1, evidence: [] };
}

async function answered(text: string, policy: Policy): Promise<string> {
  const checked = await checkRequest(approved(text, policy), { ...pinned, current: policy, named: policy });
  return checked.ok ? 'signs' : `${checked.refusal.code} ${checked.refusal.detail ?? ''}`;
}

/**
 * Returns the bytes that the key of the wallet signs. The wallet has one key for all EVM chains.
 */
function signedBytes(intent: MessageIntent): string {
  const inspected = inspectPayload(intent, composeMessage(intent).payload);
  if (!inspected.ok) throw new Error(inspected.refusal);
  return inspected.value.signedMessages.map((message) => Buffer.from(message).toString('hex')).join();
}

test.each([TEXT, OPEN_ORDER])('a message that is valid on mainnet as well is refused by the rule: %s', async (text) => {
  const { intent } = approved(text, under('refuse'));
  // The signature does not bind the message to a chain, because the bytes to sign are those of
  // mainnet.
  expect(signedBytes(intent)).toBe(signedBytes({ ...intent, chain: MAINNET }));
  expect(await answered(text, under('refuse'))).toBe('policy-forbids unbound-message');
});

test.each([TEXT, OPEN_ORDER])(
  'where the policy allows a message for every chain, signers are warned before they approve: %s',
  async (text) => {
    for (const policy of [under('allow'), byDevice]) {
      expect(await answered(text, policy)).toBe('signs');
      expect(warningsOf(approved(text, policy).intent)).toMatchObject([{ code: 'valid-on-every-chain' }]);
    }
  },
);

test('a message that names its chain passes the rule without a warning', async () => {
  expect(await answered(SEPOLIA_ORDER, under('refuse'))).toBe('signs');
  expect(warningsOf(approved(SEPOLIA_ORDER, under('refuse')).intent)).toEqual([]);
});
