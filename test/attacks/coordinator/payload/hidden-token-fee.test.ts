/**
 * Attack: the coordinator hides from the signers that a token withholds a part of the payment, or
 *   takes the form of bytes that states no fee, so that the recipient gets less than was approved.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: M7
 * Defence: every payment of Token-2022 states its fee in the bytes, the chain compares it with the
 *   fee of the mint, and co-signers refuse a fee above the approved one.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { expect, test } from 'vitest';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { feeExtension, mintTo, newToken2022 } from '#local/solana/tokens.ts';
import { present } from '../../../chains/evm/cast.ts';
import { attemptOf, payment, stranger, units, Wallet } from '../../../chains/solana/cast.ts';
import { startLyingNode } from '../../../chains/solana/lying-node.ts';

const { node, lying } = await startLyingNode();
const wallet = new Wallet();
node.chain.airdrop(wallet.address, 10_000_000_000n);
const mint = newToken2022(node.chain, { 1: feeExtension(500) });
mintTo(node.chain, mint, wallet.address, 1_000_000n);

const approved = (differences: Partial<TransferIntent> = {}) =>
  payment(wallet.address, { to: stranger(), tokenAddress: mint, amount: units(1_000n), ...differences });

const verdict = (intent: TransferIntent, bytes: Uint8Array) => {
  const inspected = inspectPayload(intent, `0x${bytesToHex(bytes)}`);
  return inspected.ok ? 'signs' : inspected.refusal;
};

/** Returns the bytes of an intent with this fee. */
async function bytesWith(intent: TransferIntent, withheld: bigint): Promise<Uint8Array> {
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const token = { decimals: 6, opensAccount: true, withheld };
  return present(messageBytes(intent, { anchor: anchor.value.anchor, unitLimit: 60_000, unitPrice: 1_000n, token }));
}

test('a fee that was not approved is not signed', async () => {
  const silent = approved();
  expect(verdict(silent, await bytesWith(silent, 50n))).toBe('token-fee-above-approved');
  const less = approved({ maxTokenFee: units(49n) });
  expect(verdict(less, await bytesWith(less, 50n))).toBe('token-fee-above-approved');
  const whole = approved({ maxTokenFee: units(50n) });
  expect(verdict(whole, await bytesWith(whole, 50n))).toBe('signs');
});

test('bytes that state no fee are signed, and the chain refuses them where the token has one', async () => {
  const silent = approved();
  const bytes = await bytesWith(silent, 0n);
  expect(verdict(silent, bytes)).toBe('signs');
  const client = lying();
  const token = { decimals: 6, opensAccount: true, withheld: 0n };
  const anchor = await client.anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const quote = { unitLimit: 60_000, unitPrice: 1_000n, token, maxFee: units(10_000_000n) };
  const attempt = attemptOf(client.rules.compose(silent, quote, anchor.value));
  const assembled = client.rules.assemble(silent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await client.broadcast(assembled.value.raw, assembled.value.hash);
  expect(node.chain.entry(assembled.value.hash)?.error).not.toBeNull();
  expect(node.chain.account(tokenAccountOf(silent.to as Address, mint, TOKEN_2022))).toBeNull();
});

test('a transfer of Token-2022 in the form without a fee is not signed', async () => {
  const silent = approved();
  const bytes = await bytesWith(silent, 0n);
  // `TransferChecked` is the instruction 12 with the amount and the decimals.
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(1_000n);
  const withFee = Buffer.concat([Buffer.of(19, 26, 1), amount, Buffer.of(6), Buffer.alloc(8)]);
  const plain = Buffer.concat([Buffer.of(10, 12), amount, Buffer.of(6)]);
  const at = Buffer.from(bytes).indexOf(withFee);
  expect(at).toBeGreaterThan(0);
  const changed = Buffer.concat([bytes.subarray(0, at), plain, bytes.subarray(at + withFee.length)]);
  expect(verdict(silent, Uint8Array.from(changed))).toBe('malformed');
});
