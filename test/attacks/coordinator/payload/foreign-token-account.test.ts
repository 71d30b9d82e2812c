/**
 * Attack: the coordinator takes the tokens of an approved payment from another person's account
 *   that has the wallet as its delegate, or from the account of the recipient, so that the payment
 *   moves nothing.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: M7
 * Defence: bytes that name a source account must revoke its delegate first, so the chain executes
 *   them only for the owner, and the account of the recipient is refused as a source.
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Address, Instruction } from '@solana/kit';
import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getAdvanceNonceAccountInstruction } from '@solana-program/system';
import { getRevokeInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { expect, test } from 'vitest';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { present } from '../../../chains/evm/cast.ts';
import { payment, stranger, units, Wallet } from '../../../chains/solana/cast.ts';

const wallet = new Wallet().address;
const [mint, to, trusting] = [stranger(), stranger(), stranger()];
const intent = payment(wallet, { to, tokenAddress: mint, amount: units(100n) });
const signer = createNoopSigner(wallet);
const value = stranger();

const transfer = (source: Address) =>
  getTransferCheckedInstruction({
    source,
    mint,
    destination: tokenAccountOf(to, mint),
    authority: signer,
    amount: 100n,
    decimals: 6,
  });
const revoke = (source: Address) => getRevokeInstruction({ source, owner: signer });

/** Returns the verdict of a co-signer on the bytes with these instructions. */
function verdict(...paying: readonly Instruction[]): string {
  const nonceAccount = nonceAccountOf(wallet, 3);
  const instructions = [
    getAdvanceNonceAccountInstruction({ nonceAccount, nonceAuthority: signer }),
    getSetComputeUnitLimitInstruction({ units: 3_000 }),
    getSetComputeUnitPriceInstruction({ microLamports: 50_000n }),
    ...paying,
  ];
  const empty = setTransactionMessageFeePayer(wallet, createTransactionMessage({ version: 0 }));
  const lifetime = { blockhash: blockhash(value), lastValidBlockHeight: 0n };
  const message = appendTransactionMessageInstructions(
    instructions,
    setTransactionMessageLifetimeUsingBlockhash(lifetime, empty),
  );
  const bytes = getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message));
  const inspected = inspectPayload(intent, `0x${bytesToHex(Uint8Array.from(bytes))}`);
  return inspected.ok ? 'signs' : inspected.refusal;
}

test('a payment from another account of the wallet is signed only if its delegate is revoked first', () => {
  const other = stranger();
  expect(verdict(revoke(other), transfer(other))).toBe('signs');
  expect(verdict(transfer(other))).toBe('wrong-transfer');
  expect(verdict(transfer(other), revoke(other))).toBe('malformed');
  expect(verdict(revoke(trusting), transfer(other))).toBe('wrong-transfer');
  expect(verdict(revoke(other), revoke(other), transfer(other))).toBe('wrong-transfer');
});

test('two transfers from two accounts are refused', () => {
  const other = stranger();
  expect(verdict(revoke(other), transfer(other), transfer(other))).toBe('wrong-transfer');
  expect(verdict(transfer(tokenAccountOf(wallet, mint)), revoke(other), transfer(other))).toBe('wrong-transfer');
});

test('the associated account pays without a revocation, so that a payment has one form', () => {
  const associated = tokenAccountOf(wallet, mint);
  expect(verdict(transfer(associated))).toBe('signs');
  expect(verdict(revoke(associated), transfer(associated))).toBe('wrong-transfer');
});

test("a payment from the recipient's own account is refused", () => {
  const destination = tokenAccountOf(to, mint);
  expect(verdict(revoke(destination), transfer(destination))).toBe('wrong-transfer');
  const terms = { decimals: 6, opensAccount: false, source: destination };
  const anchor = { kind: 'nonce', nonceSlot: 3, value } as const;
  expect(messageBytes(intent, { anchor, unitLimit: 3_000, unitPrice: 0n, token: terms })).toBeNull();
  const apart = { ...terms, source: trusting };
  expect(
    present(messageBytes(intent, { anchor, unitLimit: 3_000, unitPrice: 0n, token: apart })).length,
  ).toBeGreaterThan(0);
});
