/**
 * Attack: the coordinator adds, drops or changes the memo of an approved payment to an exchange,
 *   so that the exchange credits another customer.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: E5
 * Defence: the memo is a field of the approved intent, and co-signers sign only bytes that contain
 *   exactly this memo.
 */
import { describe, expect, test } from 'vitest';
import { payloadHex } from '#chains/payload-hex.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { present } from '../../../chains/evm/cast.ts';
import { payment, stranger, Wallet } from '../../../chains/solana/cast.ts';
import { answer, intent as frame, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';
import { alice, bob } from '../../../domain/cast.ts';

const wallet = new Wallet().address;
const { to, chain, amount, maxFee } = payment(wallet);
const plain: TransferIntent = { ...frame, chain, from: wallet, to, amount, maxFee };
const approved: TransferIntent = { ...plain, memo: '104729' };
const value = stranger();

/** Returns the bytes that an honest coordinator composes for an intent. */
function bytesFor(intent: TransferIntent): string {
  const anchor = { kind: 'nonce', nonceSlot: 0, value } as const;
  return payloadHex(present(messageBytes(intent, { anchor, unitLimit: 3_000, unitPrice: 10_000n, token: null })));
}

/**
 * Returns the answer of a co-signer to an intent and bytes that the coordinator sends after people
 * approved `intended`.
 */
function send(intended: TransferIntent, named: TransferIntent, composed: TransferIntent): Promise<string> {
  const approvals = approvalsBy(intended, alice, bob);
  return answer({ ...request({}, frame), intent: named, payload: bytesFor(composed), approvals }, { wallet });
}

const CHANGES: readonly [string, TransferIntent, TransferIntent][] = [
  ['adds a memo', plain, approved],
  ['drops the memo', approved, plain],
  ['changes the memo', approved, { ...approved, memo: '104730' }],
];

test('an approved payment is signed with its memo, and a payment without a memo is signed too', async () => {
  expect(await send(approved, approved, approved)).toBe('signs');
  expect(await send(plain, plain, plain)).toBe('signs');
});

describe.each(CHANGES)('a coordinator that %s', (_what, intended, requested) => {
  test('a memo changed in the bytes only gets no signature', async () => {
    expect(await send(intended, intended, requested)).toBe('payload-refused wrong-transfer');
  });

  test('a memo changed in the intent and in the bytes has no approvals', async () => {
    expect(await send(intended, requested, requested)).toBe('not-enough-approvals');
  });
});

test('an unreadable memo, or one that is not a text, gets no signature', () => {
  const twice = { ...approved, memo: '104729\n104730' };
  expect(inspectPayload(twice, bytesFor(twice))).toEqual({ ok: false, refusal: 'intent-not-canonical' });
  for (const memo of ['', 'x'.repeat(257), 'a\u202Eb', 7 as unknown as string, null as unknown as string]) {
    const odd = { ...approved, memo };
    expect(inspectPayload(odd, bytesFor(approved))).toEqual({ ok: false, refusal: 'intent-not-canonical' });
  }
});

test('a payment of another chain cannot have a memo, because its bytes would not show the memo', () => {
  const bitcoin = 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328';
  for (const other of ['eip155:31337', bitcoin]) {
    const elsewhere: TransferIntent = { ...frame, chain: other, memo: '104729' };
    expect(inspectPayload(elsewhere, '0x00')).toEqual({ ok: false, refusal: 'intent-not-canonical' });
  }
});

test('a memo is sent unchanged to the co-signers, and a memo with invisible characters is refused', () => {
  expect(readIntent(intentBytes(approved))).toEqual(approved);
  expect(readIntent(intentBytes(plain))).toEqual(plain);
  const { domain, fields } = readCanonical(intentBytes(approved));
  for (const memo of [null, '104729\u202E', '\u009B2K', '104\n729']) {
    const odd = fields.map(([name, text]) => [name, name === 'memo' ? memo : text] as const);
    expect(() => readIntent(canonicalBytes(domain, odd))).toThrow(InvalidDocument);
  }
});
