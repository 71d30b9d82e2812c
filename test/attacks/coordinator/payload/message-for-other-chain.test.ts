/**
 * Attack: the coordinator gets a signature over money of mainnet by a message of a test network.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 12
 * Defence: the acknowledgement of a foreign chain id is part of the digest, and co-signers apply
 *   the rules of the chain that the typed data names.
 */
import { expect, test } from 'vitest';
import { readMessage } from '#chains/evm/rules/message.ts';
import { typedDataPreimage } from '#chains/evm/rules/typed-data-hash.ts';
import { readTypedData } from '#chains/evm/rules/typed-data.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { digestOf, pinned } from '../../../cosigner/policy/check-scene.ts';
import { byDevice, laptop, phone } from '../../../cosigner/policy/device-scene.ts';
import { alice, amount, bob, messageIntent, NOON_MS } from '../../../domain/cast.ts';

const [SEPOLIA, MAINNET] = ['eip155:11155111', 'eip155:1'];
const DOLLAR = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const MALLORY = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';

const under = (rules: Partial<Rules>): Policy => ({ ...byDevice, rules: { ...byDevice.rules, ...rules } });

/** A payment of 5,000 dollars of mainnet to mallory. */
const PAYMENT = JSON.stringify({
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'TransferWithAuthorization',
  domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: DOLLAR },
  message: {
    from: messageIntent().from,
    to: MALLORY,
    value: '5000000000',
    validAfter: '0',
    validBefore: '9999999999',
    nonce: `0x${'22'.repeat(32)}`,
  },
});

/** Returns the answer of a co-signer to the message, which alice and bob have approved. */
async function answered(policy: Policy, change: Partial<MessageIntent> = {}): Promise<string> {
  return answerTo({ ...acknowledged(policy), ...change }, policy);
}

async function answerTo(intent: MessageIntent, policy: Policy): Promise<string> {
  const typed = readTypedData(JSON.parse(intent.message));
  if (!typed.ok) throw new Error(typed.refusal);
  const digest = digestOf(intent);
  const approvals = [
    { actor: alice, digest, device: laptop.signed(digest), atMs: NOON_MS },
    { actor: bob, digest, device: phone.signed(digest), atMs: NOON_MS },
  ];
  const request: SigningRequest = {
    intent,
    payload: typedDataPreimage(typed.value),
    attempt: 1,
    purpose: 'intent',
    approvals,
    policyVersion: 1,
    evidence: [],
  };
  const checked = await checkRequest(request, { ...pinned, current: policy, named: policy });
  return checked.ok ? 'signs' : `${checked.refusal.code} ${checked.refusal.detail ?? ''}`;
}

function acknowledged(policy: Policy): MessageIntent {
  const read = readMessage(SEPOLIA, PAYMENT, { acceptForeignChainId: '1' });
  if (!read.ok) throw new Error(read.refusal);
  return { ...messageIntent(), ...read.value, chain: SEPOLIA, policyHash: policyHashOf(policy) };
}

test('signers see the chain on which the signature takes effect, and co-signers sign what they approved', async () => {
  const codes = warningsOf(acknowledged(byDevice)).map(({ code }) => code);
  expect(codes).toEqual(['payment-by-signature', 'foreign-chain']);
  expect(await answered(byDevice)).toBe('signs');
});

test('a message that conceals its foreign chain id, or names another, is not signed', async () => {
  const { foreignChainId: _concealed, ...silent } = acknowledged(byDevice);
  for (const intent of [silent, { ...silent, foreignChainId: '11155111' }, { ...silent, foreignChainId: '0x1' }]) {
    // The digest covers the acknowledgement, so approvals of one are no approvals of the other.
    expect(digestOf(intent)).not.toBe(digestOf(acknowledged(byDevice)));
  }
  expect(await answered(byDevice, { foreignChainId: '11155111' })).toBe('payload-refused intent-not-canonical');
  expect(await answered(byDevice, { chain: MAINNET })).toBe('payload-refused intent-not-canonical');
});

test('the limits and the address book of the named chain apply', async () => {
  const limit = { tokenAddress: DOLLAR, perTransaction: amount('4999999999'), perDay: null };
  expect(await answered(under({ limits: [{ ...limit, chain: MAINNET }] }))).toBe('policy-forbids per-transaction');
  expect(await answered(under({ limits: [{ ...limit, chain: SEPOLIA }] }))).toBe('signs');
  const book = (chain: string) => [DOLLAR, MALLORY].map((address) => ({ chain, address, name: address.slice(0, 6) }));
  const onBook = { recipients: 'address-book' } as const;
  expect(await answered(under({ ...onBook, addressBook: book(SEPOLIA) }))).toBe('policy-forbids address-book');
  expect(await answered(under({ ...onBook, addressBook: book(MAINNET) }))).toBe('signs');
});

test('a payment whose token names its chain in the salt counts as unreadable beside the limits of that chain', async () => {
  const { domain, ...rest } = JSON.parse(PAYMENT);
  const salted = { ...rest, domain: { ...domain, chainId: undefined, salt: `0x${'89'.padStart(64, '0')}` } };
  const read = readMessage(SEPOLIA, JSON.stringify(salted));
  if (!read.ok) throw new Error(read.refusal);
  expect(read.value).not.toHaveProperty('foreignChainId');
  const policy = under({ unreadableThreshold: null });
  const intent = { ...messageIntent(), ...read.value, chain: SEPOLIA, policyHash: policyHashOf(policy) };
  expect(await answerTo(intent, policy)).toBe('policy-forbids unreadable');
});
