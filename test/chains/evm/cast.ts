import type { EvmQuote } from '#chains/evm/rules/compose.ts';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { newTransactionId, parseVaultId } from '#domain/id.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/** Addresses in checksummed spelling, from the examples of EIP-55. */
export const TREASURY = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const BOB = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const MALLORY = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
export const DOLLAR = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';

export const ANVIL = 'eip155:31337';
export const CREATED_AT_MS = Date.parse('2026-11-02T09:00:00Z');

const vaultId: VaultId = present(parseVaultId(7));
const transactionId: TransactionId = newTransactionId(vaultId, CREATED_AT_MS, new Uint8Array(10).fill(5));

/** A payment of 1000 wei from the treasury to bob, with a maximum fee of a tenth of an ether. */
export const NATIVE: TransferIntent = {
  kind: 'transfer',
  vaultId,
  transactionId,
  chain: ANVIL,
  from: TREASURY,
  to: BOB,
  tokenAddress: null,
  amount: amount('1000'),
  maxFee: amount('100000000000000000'),
  lookalikeOf: null,
  policyVersion: 1,
  policyHash: '00'.repeat(32),
  note: null,
  createdAtMs: CREATED_AT_MS,
  expiresAtMs: CREATED_AT_MS + 604_800_000,
};

/** 25 dollars of a token with 6 decimals. */
export const TOKEN: TransferIntent = { ...NATIVE, tokenAddress: DOLLAR, amount: amount('25000000') };

export const QUOTE: EvmQuote = {
  gasLimit: '60000',
  maxFeePerGas: '2000000000',
  maxPriorityFeePerGas: '1000000',
  maxFee: amount('120000000000000'),
};

export function attemptFor(intent: TransferIntent, quote: EvmQuote = QUOTE, nonce = 4n): Attempt {
  const prepared = composeTransaction(intent, quote, nonce);
  return {
    ...prepared,
    purpose: 'intent',
    number: 1,
    preparedAtMs: CREATED_AT_MS,
    signed: null,
    sent: null,
    refusal: null,
  };
}

export function amount(text: string): Amount {
  return present(parseAmount(text));
}

export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('the cast is wrong');
  return value;
}
