import { expect, test } from 'vitest';
import { differenceOf } from '#dashboard/decision/record-difference.ts';
import { verifyRequest } from '#review/verified-request.ts';
import { keyNamed, NOW_MS, policyOf, requestOf, SUPPLIER, THIEF, transferOf } from '../approval-page/request-scene.ts';

/** Covers which fields of a record are held against the bytes that are approved. */

const policy = policyOf({
  rules: { ...policyOf().rules, tokens: [{ chain: 'eip155:31337', tokenAddress: THIEF, symbol: 'ACME', decimals: 6 }] },
});
const intent = transferOf(policy);
const review = verifyRequest(requestOf(policy, intent), NOW_MS);
const native = { tokenAddress: null, symbol: 'ETH', decimals: 18, trust: 'native', imitates: null } as const;

const record: Parameters<typeof differenceOf>[0] = {
  id: intent.transactionId,
  vaultId: intent.vaultId,
  kind: 'transfer',
  chain: 'anvil',
  from: intent.from,
  to: SUPPLIER,
  spender: null,
  amount: intent.amount,
  asset: native,
  maxFee: intent.maxFee,
  feeAsset: native,
  data: null,
  memo: null,
  note: null,
  message: null,
  messageFormat: null,
  foreignChainId: null,
  paysFor: null,
  maxTokenFee: null,
  lookalikeOf: null,
  policyVersion: 1,
  digest: review.digest,
  expiresAt: new Date(intent.expiresAtMs).toISOString(),
  notAfter: null,
  knownAs: [{ address: SUPPLIER, name: 'Supplier' }],
};

test('the record of the approved bytes has no difference', () => {
  expect(differenceOf(record, review)).toBe(null);
  expect(differenceOf({ ...record, knownAs: [] }, review)).toBe(null);
});

test('every field of the record that is shown is compared', () => {
  const other = { text: 'other', number: 99 };
  for (const [name, value] of Object.entries(record)) {
    if (['asset', 'feeAsset', 'knownAs', 'chain'].includes(name)) continue;
    const changed = typeof value === 'number' ? other.number : other.text;
    expect([name, differenceOf({ ...record, [name]: changed }, review)]).not.toEqual([name, null]);
  }
});

test.each([
  ['ethereum', 'chain'],
  ['an invented name', 'chain'],
])('the chain %s is another one', (chain, difference) => {
  expect(differenceOf({ ...record, chain }, review)).toBe(difference);
});

test.each([
  [{ ...native, decimals: 6 }],
  [{ ...native, symbol: 'USDC' }],
  [{ ...native, trust: 'listed' as const }],
  [{ ...native, tokenAddress: THIEF, trust: 'policy' as const }],
])('the asset %o is another one', (asset) => {
  expect(differenceOf({ ...record, asset }, review)).not.toBe(null);
  expect(differenceOf({ ...record, feeAsset: asset }, review)).not.toBe(null);
});

test('a token of the policy has its symbol and decimals, and is not called listed or unlisted', () => {
  const paid = transferOf(policy, { tokenAddress: THIEF });
  const tokenReview = verifyRequest(requestOf(policy, paid), NOW_MS);
  const acme = { tokenAddress: THIEF, symbol: 'ACME', decimals: 6, trust: 'policy', imitates: null } as const;
  const of = (asset: Parameters<typeof differenceOf>[0]['asset']) =>
    differenceOf({ ...record, digest: tokenReview.digest, asset }, tokenReview);
  expect(of(acme)).toBe(null);
  expect(of({ ...acme, decimals: 18 })).toBe('symbol or number of decimals');
  expect(of({ ...acme, symbol: 'USDC' })).toBe('symbol or number of decimals');
  for (const trust of ['listed', 'unlisted', 'native'] as const) {
    expect(of({ ...acme, trust })).toBe('symbol or number of decimals');
  }
});

test('a contact that the policy does not name, or names otherwise, is a difference', () => {
  for (const contact of [
    { address: THIEF, name: 'Supplier' },
    { address: SUPPLIER, name: 'Coinbase Prime (verified)' },
  ]) {
    expect(differenceOf({ ...record, knownAs: [contact] }, review)).toBe('contact');
  }
});

test('another key in the request is not what is compared: the request is refused before', () => {
  const request = requestOf(policy, intent, { keys: [keyNamed('another key')] });
  expect(() => verifyRequest(request, NOW_MS)).toThrow('not the key of the wallet');
});
