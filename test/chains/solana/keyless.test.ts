import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { expect, test } from 'vitest';
import type { Address } from '@solana/kit';
import { bytesOf, derivedAddress, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { memoFault } from '#chains/solana/rules/memo.ts';
import { inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import { account, mintTo, newToken } from '#local/solana/tokens.ts';
import { clientAt, attemptOf, payment, stranger, units, Wallet } from './cast.ts';
import { startLyingNode } from './lying-node.ts';

/**
 * Covers payments with a memo, and payments to program-derived addresses, on the real virtual
 * machine.
 */

const SOL = 1_000_000_000n;
const { node } = await startLyingNode();
const client = () => clientAt(node.url);

/**
 * An address as Squads derives it for a vault: derived from a program, and an account of the system
 * program.
 */
function squadsVault(): Address {
  return derivedAddress([Buffer.from('vault'), bytesOf(stranger())], stranger());
}

function funded(): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 10n * SOL);
  return wallet;
}

async function paid(wallet: Wallet, intent: TransferIntent) {
  const quote = await client().quote(intent, null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const anchor = await client().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const attempt = attemptOf(client().rules.compose(intent, quote.value, anchor.value));
  const assembled = client().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await client().broadcast(assembled.value.raw, assembled.value.hash);
  return node.chain.entry(assembled.value.hash);
}

test('a memo is written to the log of a payment of SOL or tokens', async () => {
  const wallet = funded();
  const first = await paid(wallet, payment(wallet.address, { memo: 'Rechnung 7 für Ämter' }));
  expect(first?.error).toBeNull();
  expect(first?.logs.join('\n')).toContain('Rechnung 7 für Ämter');
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, wallet.address, 500n);
  const tokens = payment(wallet.address, { tokenAddress: mint, amount: units(100n), memo: '104729' });
  const second = await paid(wallet, tokens);
  expect(second?.error).toBeNull();
  expect(second?.logs.join('\n')).toContain('104729');
});

test('the longest memo fits into a packet with the largest payment', () => {
  const wallet = new Wallet().address;
  const intent = payment(wallet, { tokenAddress: stranger(), memo: 'm'.repeat(256) });
  const anchor = { kind: 'opening', nonceSlot: 15, blockhash: stranger() as never, rent: 1_447_680n } as const;
  const token = { decimals: 9, opensAccount: true, source: stranger() };
  const bytes = messageBytes(intent, { anchor, unitLimit: 1_000_000, unitPrice: 1n, token });
  if (bytes === null) throw new Error('it has bytes');
  expect(inspectSolanaPayload(intent, payloadHex(bytes)).ok).toBe(true);
});

test.each<[string, string, boolean]>([
  ['a number', '104729', true],
  ['256 bytes', 'x'.repeat(256), true],
  ['letters of two bytes', 'ä'.repeat(128), true],
  ['a word with blanks', 'rent for May', true],
  ['nothing', '', false],
  ['257 bytes', 'x'.repeat(257), false],
  ['too many letters of two bytes', 'ä'.repeat(129), false],
  ['half of a pair', 'a\uD800', false],
  ['a line break', 'a\nb', false],
  ['a mark that turns text around', 'a\u202Eb', false],
  ['a letter without width', 'a\u200Bb', false],
])('the check of the memo %s accepts or refuses it', (_name, memo, isGood) => {
  expect(memoFault(memo) === null).toBe(isGood);
});

test('SOL and tokens reach a program-derived address', async () => {
  const wallet = funded();
  const to = squadsVault();
  const acknowledged = { to, recipientMayHaveNoKey: true } as const;
  expect((await paid(wallet, payment(wallet.address, acknowledged)))?.error).toBeNull();
  expect(node.chain.account(to)?.lamports).toBe(SOL);
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, wallet.address, 500n);
  const tokens = { tokenAddress: mint, amount: units(100n) };
  expect((await paid(wallet, payment(wallet.address, { ...acknowledged, ...tokens })))?.error).toBeNull();
  expect(node.chain.tokenAccounts(to)).toEqual([{ address: tokenAccountOf(to, mint), mint }]);
});

test('a token account or the state of a program is never paid as a recipient, even when acknowledged', async () => {
  const wallet = funded();
  const mint = newToken(node.chain);
  const holder = stranger();
  mintTo(node.chain, mint, holder, 1n);
  const state = squadsVault();
  node.chain.put(account(state, new Uint8Array(8), stranger()));
  for (const to of [tokenAccountOf(holder, mint), state]) {
    const quote = await client().quote(payment(wallet.address, { to, recipientMayHaveNoKey: true }), null);
    expect(quote).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason: 'RECIPIENT_REFUSED' } });
  }
});

test('only a program-derived address counts as an address without a key', () => {
  const keyless = squadsVault();
  expect(client().rules.parseKeylessRecipient(keyless)).toBe(keyless);
  expect(client().rules.parseRecipient(keyless)).toEqual({ ok: false, refusal: 'off-curve' });
  for (const text of [stranger(), SYSTEM_PROGRAM_ADDRESS, 'no address', '']) {
    expect(client().rules.parseKeylessRecipient(text)).toBeNull();
  }
});

test('a cancellation has no memo and no acknowledgement', () => {
  const intent = payment(new Wallet().address, { to: squadsVault(), recipientMayHaveNoKey: true, memo: 'x' });
  const effect = actionOfAttempt(intent, 'cancellation');
  expect(Object.keys(effect)).not.toContain('memo');
  expect(Object.keys(effect)).not.toContain('recipientMayHaveNoKey');
});
