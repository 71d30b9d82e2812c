import type { Address } from '@solana/kit';
import { getTokenEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { expect, test } from 'vitest';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { account, mintTo, newToken } from '#local/solana/tokens.ts';
import { attemptOf, payment, stranger, units, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';
import { unitsIn } from '../../readings.ts';

/**
 * Covers tokens of a wallet in other accounts than the associated one. Any party can create such an
 * account.
 */

const SOL = 1_000_000_000n;
const { node, about, lying, liar } = await startLyingNode();

interface Held {
  readonly owner: Address;
  readonly amount: bigint;
  readonly delegate?: Address;
  readonly isFrozen?: true;
}

/** Creates an account of the token at a new address. */
function putAccount(mint: Address, { owner, amount, delegate, isFrozen }: Held, at: Address = stranger()): Address {
  const data = getTokenEncoder().encode({
    mint,
    owner,
    amount,
    delegate: delegate ?? null,
    state: isFrozen === true ? 2 : 1,
    isNative: null,
    delegatedAmount: delegate === undefined ? 0n : amount,
    closeAuthority: null,
  });
  node.chain.put(account(at, Uint8Array.from(data), TOKEN_PROGRAM_ADDRESS));
  return at;
}

function holder(associated: bigint): { readonly wallet: Wallet; readonly mint: Address } {
  liar.follow(() => 'forward');
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 10n * SOL);
  const mint = newToken(node.chain);
  if (associated > 0n) mintTo(node.chain, mint, wallet.address, associated);
  return { wallet, mint };
}

const paying = ({ wallet, mint }: ReturnType<typeof holder>, amount: bigint, to = stranger()) =>
  payment(wallet.address, { to, tokenAddress: mint, amount: units(amount) });

async function paid(wallet: Wallet, intent: TransferIntent) {
  const quote = await lying().quote(intent, null);
  if (!quote.ok) return quote.refusal.kind === 'permanent' ? quote.refusal : quote.refusal.kind;
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const attempt = attemptOf(lying().rules.compose(intent, quote.value, anchor.value));
  const assembled = lying().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await lying().broadcast(assembled.value.raw, assembled.value.hash);
  return node.chain.entry(assembled.value.hash)?.error === null ? 'paid' : 'failed';
}

async function held(of: Address, mint: Address): Promise<string | undefined> {
  const holdings = await lying().holdings(of, [{ kind: 'spl', tokenAddress: mint, tokenId: null }], false);
  if (!holdings.ok) throw new Error(holdings.refusal.detail);
  return unitsIn(holdings.value)[0];
}

test('tokens in a non-associated account of the wallet are paid from that account', async () => {
  const scene = holder(5n);
  putAccount(scene.mint, { owner: scene.wallet.address, amount: 1_000_000n });
  const intent = paying(scene, 100n);
  expect(await paid(scene.wallet, intent)).toBe('paid');
  expect([await held(scene.wallet.address, scene.mint), await held(intent.to as Address, scene.mint)]).toEqual([
    '999905',
    '100',
  ]);
});

test('the associated account pays if it suffices, or else the smallest account that does', async () => {
  const scene = holder(50n);
  const { wallet, mint } = scene;
  const [large, small] = [700n, 60n].map((amount) => putAccount(mint, { owner: wallet.address, amount }));
  const source = async (amount: bigint) => {
    const quote = await lying().quote(paying(scene, amount), null);
    return quote.ok ? quote.value.token?.source : quote.refusal;
  };
  expect([await source(50n), await source(51n), await source(60n), await source(61n)]).toEqual([
    undefined,
    small,
    small,
    large,
  ]);
});

test('the refusal states how much one payment can spend if no single account suffices', async () => {
  const scene = holder(50n);
  putAccount(scene.mint, { owner: scene.wallet.address, amount: 60n });
  expect(await paid(scene.wallet, paying(scene, 100n))).toMatchObject({
    reason: 'INSUFFICIENT_FUNDS',
    detail:
      'The wallet holds 110 token units. The transaction requires 100. One payment can spend at most 60, the balance of one token account.',
  });
});

test('a payment to the wallet itself moves the tokens of a non-associated account to the associated one', async () => {
  const scene = holder(50n);
  const { wallet, mint } = scene;
  const other = putAccount(mint, { owner: wallet.address, amount: 60n });
  expect(await paid(wallet, paying(scene, 60n, wallet.address))).toBe('paid');
  const quote = await lying().quote(paying(scene, 110n), null);
  expect(quote.ok && quote.value.token?.source).toBeUndefined();
  expect(node.chain.account(other)?.data[64]).toBe(0);
});

test('frozen accounts, accounts of another token and accounts of others pay nothing', async () => {
  const scene = holder(5n);
  const { wallet, mint } = scene;
  putAccount(mint, { owner: wallet.address, amount: 1_000n, isFrozen: true });
  putAccount(newToken(node.chain), { owner: wallet.address, amount: 1_000n });
  putAccount(mint, { owner: stranger(), amount: 1_000n });
  expect(await paid(wallet, paying(scene, 100n))).toMatchObject({
    reason: 'INSUFFICIENT_FUNDS',
    detail: 'The wallet holds 5 token units. The transaction requires 100.',
  });
});

/** Makes the RPC node list this account as one of the wallet's. */
function lieAbout(mint: Address, named: Address, owner: Address): void {
  const data = getTokenEncoder().encode({
    mint,
    owner,
    amount: 1_000n,
    delegate: null,
    state: 1,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  });
  const encoded = [Buffer.from(data).toString('base64'), 'base64'];
  const shown = { lamports: 2_039_280, owner: TOKEN_PROGRAM_ADDRESS, data: encoded, executable: false };
  about('getTokenAccountsByOwner', {
    result: { context: { slot: 1 }, value: [{ pubkey: named, account: shown }] },
  });
}

test('tokens of an owner who made the wallet a delegate are never spent, whatever an RPC node reports', async () => {
  const scene = holder(0n);
  const { wallet, mint } = scene;
  const trusting = stranger();
  const theirs = putAccount(mint, { owner: trusting, amount: 1_000n, delegate: wallet.address });
  lieAbout(mint, theirs, wallet.address);
  const intent = paying(scene, 100n);
  // The simulation already fails. The bytes would fail on the chain as well.
  expect(await paid(wallet, intent)).toMatchObject({ reason: 'SIMULATION_REVERTED' });
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const token = { decimals: 6, opensAccount: true, source: theirs };
  const quoted = { unitLimit: 100_000, unitPrice: 0n, token, maxFee: units(0n) };
  const attempt = attemptOf(lying().rules.compose(intent, quoted, anchor.value));
  const assembled = lying().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await lying().broadcast(assembled.value.raw, assembled.value.hash);
  // The transfer fails after `Revoke`, which is undone with the transaction.
  expect(node.chain.entry(assembled.value.hash)?.error).toMatchObject({ InstructionError: [7, { Custom: 4 }] });
  liar.follow(() => 'forward');
  expect([await held(trusting, mint), node.chain.account(theirs)?.data[72]]).toEqual(['1000', 1]);
});

test('a listed account whose own bytes name another owner does not count as the wallet’s', async () => {
  const scene = holder(0n);
  const { wallet, mint } = scene;
  const trusting = stranger();
  const theirs = putAccount(mint, { owner: trusting, amount: 1_000n, delegate: wallet.address });
  lieAbout(mint, theirs, trusting);
  expect(await paid(wallet, paying(scene, 100n))).toMatchObject({ reason: 'INSUFFICIENT_FUNDS' });
});

test("the recipient's account is not used as the source, even when the wallet has become its owner", async () => {
  const scene = holder(0n);
  const { wallet, mint } = scene;
  const to = stranger();
  const given = putAccount(mint, { owner: wallet.address, amount: 1_000n }, tokenAccountOf(to, mint));
  expect(given).toBe(tokenAccountOf(to, mint));
  const outcome = await paid(wallet, paying(scene, 100n, to));
  expect(outcome).toMatchObject({ reason: 'INSUFFICIENT_FUNDS' });
});

test('a list with an account that cannot be read does not end a payment for missing funds', async () => {
  const scene = holder(5n);
  about('getTokenAccountsByOwner', {
    result: { context: { slot: 1 }, value: [{ pubkey: stranger(), account: { lamports: 1 } }] },
  });
  expect(await paid(scene.wallet, paying(scene, 100n))).toBe('transient');
  about('getTokenAccountsByOwner', { result: { context: { slot: 1 }, value: [] } });
  expect(await paid(scene.wallet, paying(scene, 100n))).toMatchObject({ reason: 'INSUFFICIENT_FUNDS' });
});
