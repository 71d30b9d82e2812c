/**
 * Attack: the coordinator pays an address that a program derives and that has no key, and does not
 *   show the signers that they acknowledge this.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: E5
 * Defence: co-signers refuse such a recipient unless the approved intent acknowledges it, and the
 *   acknowledgement is shown as a warning.
 */
import { describe, expect, test } from 'vitest';
import { describeIntent } from '#review/describe-intent.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import { bytesOf, derivedAddress, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { present } from '../../../chains/evm/cast.ts';
import { payment, stranger, Wallet } from '../../../chains/solana/cast.ts';
import { answer, intent as frame, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';
import { alice, bob, policy } from '../../../domain/cast.ts';

const wallet = new Wallet().address;
const { to, chain, amount, maxFee } = payment(wallet);
const toPerson: TransferIntent = { ...frame, chain, from: wallet, to, amount, maxFee };
const keyless = derivedAddress([Buffer.from('vault'), bytesOf(stranger())], stranger());
const silent: TransferIntent = { ...toPerson, to: keyless };
const acknowledged: TransferIntent = { ...silent, recipientMayHaveNoKey: true };
const value = stranger();

/**
 * Returns the answer of a co-signer when people approved one intent and the coordinator sends
 * another one.
 */
function send(approved: TransferIntent, named: TransferIntent = approved): Promise<string> {
  const anchor = { kind: 'nonce', nonceSlot: 0, value } as const;
  const bytes = present(messageBytes(named, { anchor, unitLimit: 3_000, unitPrice: 10_000n, token: null }));
  const sent = {
    ...request({}, frame),
    intent: named,
    payload: payloadHex(bytes),
    approvals: approvalsBy(approved, alice, bob),
  };
  return answer(sent, { wallet });
}

test('an acknowledged payment to a program is signed, and so is a payment to a person', async () => {
  expect(await send(acknowledged)).toBe('signs');
  expect(await send(toPerson)).toBe('signs');
});

describe('a coordinator that', () => {
  test('a coordinator that gets approvals without the acknowledgement gets no signature', async () => {
    expect(await send(silent)).toBe('payload-refused intent-not-canonical');
    expect(await send({ ...silent, to: tokenAccountOf(stranger(), stranger()) })).toBe(
      'payload-refused intent-not-canonical',
    );
  });

  test('a coordinator that adds or drops the acknowledgement has no approvals for that intent', async () => {
    expect(await send(silent, acknowledged)).toBe('not-enough-approvals');
    expect(await send(acknowledged, silent)).not.toBe('signs');
    expect(await send(toPerson, acknowledged)).toBe('not-enough-approvals');
  });

  test('an acknowledgement for the address of a person is refused, so that the warning stays meaningful', async () => {
    expect(await send({ ...toPerson, recipientMayHaveNoKey: true })).toBe('payload-refused intent-not-canonical');
  });

  test('an acknowledgement with another value than true is refused', () => {
    const { domain, fields } = readCanonical(intentBytes(acknowledged));
    for (const said of ['false', 'TRUE', '1', null]) {
      const odd = fields.map(([name, text]) => [name, name === 'recipientMayHaveNoKey' ? said : text] as const);
      expect(() => readIntent(canonicalBytes(domain, odd))).toThrow(InvalidDocument);
    }
    expect(readIntent(intentBytes(acknowledged))).toEqual(acknowledged);
  });
});

test('the API and the approval page warn the signers of a recipient without a key', () => {
  expect(warningsOf(acknowledged)).toEqual([
    { code: 'recipient-may-have-no-key', detail: expect.stringContaining(keyless) as string },
  ]);
  expect(warningsOf(toPerson)).toEqual([]);
  const { facts, warnings } = describeIntent(acknowledged, policy);
  expect(warnings.join()).toContain('is a program-derived address without a key');
  expect(facts.find(({ label }) => label === 'Recipient key')?.text).toContain('None');
});
