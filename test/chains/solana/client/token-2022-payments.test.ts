import type { Address } from '@solana/kit';
import { createNoopSigner, getAddressDecoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { expect, test } from 'vitest';
import { isPublicKey, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { Extensions } from '#local/solana/tokens.ts';
import { account, feeExtension, mintTo, newToken2022, replaceExtensions } from '#local/solana/tokens.ts';
import { attemptOf, payment, stranger, units, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';

/**
 * Covers payments of Token-2022 on its own program: what it withholds, what it requires of a
 * recipient, and which of its tokens are refused, by name and before anything is signed.
 */

const SOL = 1_000_000_000n;
const { node, lying } = await startLyingNode();

const FEE = 1;
const DEFAULT_STATE = 6;
const NON_TRANSFERABLE = 9;
const HOOK = 14;
const CONFIDENTIAL_MINT_BURN = 24;
const PAUSABLE = 26;

const bytes = (length: number, at: Readonly<Record<number, number>> = {}) =>
  Uint8Array.from({ length }, (_, i) => at[i] ?? 0);

/** The extensions of PYUSD. None of them has an effect at present. */
const PYUSD: Extensions = {
  [FEE]: feeExtension(0),
  3: bytes(32),
  4: bytes(65),
  12: bytes(32),
  [HOOK]: bytes(64),
  16: bytes(129),
  18: bytes(64),
};

function holder(extensions: Extensions, amount = 1_000_000n): { readonly wallet: Wallet; readonly mint: Address } {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 10n * SOL);
  const mint = newToken2022(node.chain, extensions);
  mintTo(node.chain, mint, wallet.address, amount);
  return { wallet, mint };
}

const paying = ({ wallet, mint }: ReturnType<typeof holder>, differences: Partial<TransferIntent> = {}) =>
  payment(wallet.address, { tokenAddress: mint, amount: units(1_000n), ...differences });

async function paid(wallet: Wallet, intent: TransferIntent, before: () => void = () => undefined) {
  const quote = await lying().quote(intent, null);
  if (!quote.ok) return quote.refusal.kind === 'permanent' ? quote.refusal : quote.refusal.kind;
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const attempt = attemptOf(lying().rules.compose(intent, quote.value, anchor.value));
  const assembled = lying().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  before();
  const lamports = node.chain.account(wallet.address)?.lamports ?? 0n;
  await lying().broadcast(assembled.value.raw, assembled.value.hash);
  const { hash } = assembled.value;
  const entry = node.chain.entry(hash);
  const spent = lamports - (node.chain.account(wallet.address)?.lamports ?? 0n);
  expect(spent).toBeLessThanOrEqual(BigInt(attempt.maxFee));
  if (entry?.error !== null) return 'failed';
  const seen = await lying().activity(hash, null);
  if (!seen.ok) throw new Error(seen.refusal.detail);
  return seen.value?.movements
    .filter(({ tokenAddress }) => tokenAddress === intent.tokenAddress)
    .map(({ from, to, amount }) => [from, to, amount]);
}

/** Returns the units that the owner of an account can spend. */
async function held(of: string, mint: Address): Promise<string> {
  const assets = [{ kind: 'spl', tokenAddress: mint, tokenId: null }] as const;
  const read = await lying().holdings(of, assets, false);
  const [reading] = read.ok ? read.value.readings : [];
  return reading?.state === 'covered' ? reading.units : (reading?.state ?? 'none');
}

test.each([
  ['without extensions', {}],
  ['with those of PYUSD', PYUSD],
  [
    'with each that changes no payment',
    {
      ...PYUSD,
      [DEFAULT_STATE]: bytes(1, { 0: 1 }),
      10: bytes(52),
      20: bytes(64),
      22: bytes(64),
      25: bytes(56),
      [PAUSABLE]: bytes(33),
    },
  ],
])('a token %s is paid, and the recipient gets the amount', async (_name, extensions) => {
  const scene = holder(extensions);
  const intent = paying(scene);
  expect(await paid(scene.wallet, intent)).toEqual([[scene.wallet.address, intent.to, '1000']]);
  expect([await held(intent.to, scene.mint), await held(scene.wallet.address, scene.mint)]).toEqual(['1000', '999000']);
});

test('the fee of a token is approved with the payment, withheld by the chain, and a movement of its own', async () => {
  const scene = holder({ [FEE]: feeExtension(150) });
  const refusal = { kind: 'permanent', reason: 'TOKEN_REFUSED' };
  const detail = (most: string) =>
    `The token ${scene.mint} withholds 15 of the 1000 units from the recipient. The payment allows ${most}: see maxTokenFee.`;
  expect(await paid(scene.wallet, paying(scene))).toEqual({ ...refusal, detail: detail('0') });
  expect(await paid(scene.wallet, paying(scene, { maxTokenFee: units(14n) }))).toEqual({
    ...refusal,
    detail: detail('14'),
  });
  const intent = paying(scene, { maxTokenFee: units(15n) });
  const estimate = await lying().estimate(intent);
  expect(estimate.ok && 'tokenFee' in estimate.value && estimate.value.tokenFee).toBe('15');
  expect(await paid(scene.wallet, intent)).toEqual([
    [scene.wallet.address, intent.to, '985'],
    [scene.wallet.address, null, '15'],
  ]);
  expect([await held(intent.to, scene.mint), await held(scene.wallet.address, scene.mint)]).toEqual(['985', '999000']);
});

test.each([
  ['a fraction counts as a whole unit', 1n, feeExtension(1), '1'],
  ['the maximum of the mint', 1_000n, feeExtension(5_000, { most: 7n }), '7'],
  ['an announced rise', 1_000n, feeExtension(100, { later: 300, from: 9n }), '30'],
  ['an announced fall', 1_000n, feeExtension(300, { later: 100, from: 9n }), '30'],
  ['a change of an earlier epoch', 1_000n, feeExtension(100, { later: 300, from: 0n }), '30'],
])('the estimate shows the fee of a token: %s', async (_name, amount, extension, fee) => {
  const scene = holder({ [FEE]: extension });
  const estimate = await lying().estimate(paying(scene, { amount: units(amount) }));
  expect(estimate.ok && 'tokenFee' in estimate.value && estimate.value.tokenFee).toBe(fee);
});

test('a fee that rises after the signature fails on the chain, and moves nothing', async () => {
  const scene = holder({ [FEE]: feeExtension(100) });
  const intent = paying(scene, { maxTokenFee: units(500n) });
  const rise = () => replaceExtensions(node.chain, scene.mint, { [FEE]: feeExtension(200) });
  expect(await paid(scene.wallet, intent, rise)).toBe('failed');
  expect([await held(scene.wallet.address, scene.mint), await held(intent.to, scene.mint)]).toEqual(['1000000', '0']);
  const plain = holder({ [FEE]: feeExtension(0) });
  const sudden = () => replaceExtensions(node.chain, plain.mint, { [FEE]: feeExtension(1) });
  expect(await paid(plain.wallet, paying(plain), sudden)).toBe('failed');
});

test.each([
  ['a hook', { [HOOK]: bytes(64, { 63: 1 }) }, 'calls a transfer hook, which is not supported'],
  ['no transfers', { [NON_TRANSFERABLE]: bytes(0) }, 'cannot be transferred'],
  [
    'confidential amounts',
    { [CONFIDENTIAL_MINT_BURN]: bytes(196) },
    'is minted and burned confidentially, which is not supported',
  ],
  ['a pause', { [PAUSABLE]: bytes(33, { 32: 1 }) }, 'is paused'],
  [
    'new accounts frozen',
    { [DEFAULT_STATE]: bytes(1, { 0: 2 }) },
    'freezes each new account, and the recipient has none yet',
  ],
  ['an unknown extension', { 999: bytes(3) }, 'has the extension 999 of Token-2022, which is not known'],
])('a token with %s is refused by name', async (_name, extensions, reason) => {
  const scene = holder({});
  replaceExtensions(node.chain, scene.mint, extensions);
  expect(await paid(scene.wallet, paying(scene))).toEqual({
    kind: 'permanent',
    reason: 'TOKEN_REFUSED',
    detail: `The token ${scene.mint} ${reason}.`,
  });
});

/** Adds an extension to the token account of an owner, as the owner does. */
function extend(of: string, mint: Address, [type, content]: readonly [number, Uint8Array]): void {
  if (!isPublicKey(of)) throw new Error('no address');
  const at = tokenAccountOf(of, mint, TOKEN_2022);
  const before = node.chain.account(at);
  if (before === null) throw new Error('no account');
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(content.length, 2);
  node.chain.put(account(at, Buffer.concat([before.data, head, content]), TOKEN_2022));
}

test('a recipient that requires a memo gets one, and a payment without one is refused', async () => {
  const scene = holder({});
  const to = stranger();
  mintTo(node.chain, scene.mint, to, 1n);
  extend(to, scene.mint, [8, Uint8Array.of(1)]);
  expect(await paid(scene.wallet, paying(scene, { to }))).toMatchObject({
    reason: 'RECIPIENT_REFUSED',
    detail: `The token account of ${to} accepts only payments with a memo. Set memo.`,
  });
  expect(await paid(scene.wallet, paying(scene, { to, memo: 'invoice 7' }))).toEqual([
    [scene.wallet.address, to, '1000'],
  ]);
});

test('a recipient that accepts only confidential payments is refused', async () => {
  const scene = holder({ 4: bytes(65) });
  const to = stranger();
  mintTo(node.chain, scene.mint, to, 1n);
  extend(to, scene.mint, [5, bytes(295)]);
  expect(await paid(scene.wallet, paying(scene, { to }))).toMatchObject({
    reason: 'RECIPIENT_REFUSED',
    detail: `The token account of ${to} accepts only confidential payments.`,
  });
});

test('tokens in another account of the wallet are paid from it', async () => {
  const scene = holder({}, 1n);
  const other = getAddressDecoder().decode(crypto.getRandomValues(new Uint8Array(32)));
  const own = tokenAccountOf(scene.wallet.address, scene.mint, TOKEN_2022);
  const data = Uint8Array.from(node.chain.account(own)?.data ?? []);
  Buffer.from(data.buffer).writeBigUInt64LE(5_000n, 64);
  node.chain.put(account(other, data, TOKEN_2022));
  const intent = paying(scene);
  expect(await paid(scene.wallet, intent)).toEqual([[scene.wallet.address, intent.to, '1000']]);
  expect(await held(scene.wallet.address, scene.mint)).toBe('4001');
});

test('a mint of no token program is refused', async () => {
  const { wallet } = holder({});
  for (const owner of [SYSTEM_PROGRAM_ADDRESS, createNoopSigner(stranger()).address]) {
    const mint = stranger();
    node.chain.put(account(mint, bytes(82), owner));
    expect(await paid(wallet, payment(wallet.address, { tokenAddress: mint }))).toMatchObject({
      reason: 'TOKEN_REFUSED',
    });
  }
});

/** Returns a Borsh text. */
function borsh(text: string): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(text), 0);
  return Buffer.concat([length, Buffer.from(text)]);
}

test.each([
  [
    'the metadata of a mint',
    Buffer.concat([bytes(64), borsh('PayPal USD'), borsh('PYUSD'), borsh('uri')]),
    'PYUSD',
    'PayPal USD',
  ],
  ['texts that are cut off', Buffer.concat([bytes(64), borsh('PayPal USD').subarray(0, 9)]), null, null],
  [
    'a text with a character that reorders others',
    Buffer.concat([bytes(64), borsh('a\u202eb'), borsh('c')]),
    'c',
    'ab',
  ],
])('names are read from %s', async (_name, metadata, symbol, name) => {
  const { mint } = holder({ 18: bytes(64), 19: metadata });
  const token = await lying().token(mint);
  expect(token.ok && token.value).toEqual({ symbol, name, decimals: 6 });
});
