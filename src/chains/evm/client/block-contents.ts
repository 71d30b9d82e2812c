import type { Hex } from 'viem';
import type { KnownTransaction, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { ANSWER_FIELDS, RECEIPT_PRUNING, readReceipt, readTransaction, tagOf } from '#chains/evm/client/rpc-calls.ts';
import { parseAddressBytes, parseHash, parseQuantity } from '#chains/evm/rules/hex.ts';
import type { RpcCall } from '#chains/rpc/json-rpc.ts';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** A transaction in a block, with the account nonce that it used. */
export interface BlockTransaction extends KnownTransaction {
  readonly hash: Hex;
  readonly nonce: bigint;
}

export interface WholeBlock {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Without the transactions that a rollup makes itself in a format of its own. */
  readonly transactions: readonly BlockTransaction[];
}

/** A transaction of a block, with only its own payment. */
export interface DirectPayment {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly value: bigint;
}

const BLOCK_FIELDS = [...ANSWER_FIELDS, 'number', 'timestamp', 'transactions'];
const PAYMENT_FIELDS = ['hash', 'from', 'to', 'value'];
const TRANSACTION_FIELDS = [...PAYMENT_FIELDS, 'mint', 'type', 'nonce', 'gas', 'input', 'blockHash'];

/** The input of the transactions has nearly all of the bytes of a block. */
const PAYMENTS_PRUNING: Pruning = {
  keeps: new Set([...BLOCK_FIELDS, ...PAYMENT_FIELDS]),
  keptItem: (item) => item,
};

/**
 * Returns a block with the transactions of one account; null for a block that the RPC node does not
 * have.
 */
export const getBlockOf = (number: bigint, account: string): RpcCall<WholeBlock | null> => ({
  method: 'eth_getBlockByNumber',
  params: [tagOf(number), true],
  pruning: {
    keeps: new Set([...BLOCK_FIELDS, ...TRANSACTION_FIELDS]),
    keptItem: (item) => (isBy(account, item) ? item : undefined),
  },
  read: (answer) => {
    if (answer === null) return null;
    if (!isJsonObject(answer) || !Array.isArray(answer['transactions'])) return undefined;
    const timestamp = parseQuantity(answer['timestamp']);
    if (timestamp === null || parseQuantity(answer['number']) !== number) return undefined;
    const rows: readonly unknown[] = answer['transactions'];
    const transactions = rows.flatMap((row) => (isBy(account, row) ? (readBlockTransaction(row) ?? []) : []));
    return { number, timestamp, transactions };
  },
});

function isBy(account: string, row: unknown): boolean {
  return isJsonObject(row) && parseAddressBytes(row['from']) === account.toLowerCase();
}

function readBlockTransaction(row: unknown): BlockTransaction | null {
  if (!isJsonObject(row)) return null;
  const [hash, nonce] = [parseHash(row['hash']), parseQuantity(row['nonce'])];
  const known = hash === null ? undefined : readTransaction(row, hash);
  return hash === null || nonce === null || known === undefined ? null : { ...known, hash, nonce };
}

/**
 * Returns every transaction of a block, in order, and null in place of one that cannot be read;
 * null for a block that the RPC node does not have.
 */
export const getBlockPayments = (number: bigint): RpcCall<readonly (DirectPayment | null)[] | null> => ({
  method: 'eth_getBlockByNumber',
  params: [tagOf(number), true],
  pruning: PAYMENTS_PRUNING,
  read: (answer) => {
    if (answer === null) return null;
    if (!isJsonObject(answer) || !Array.isArray(answer['transactions'])) return undefined;
    const rows: readonly unknown[] = answer['transactions'];
    return rows.map(readPayment);
  },
});

function readPayment(row: unknown): DirectPayment | null {
  if (!isJsonObject(row)) return null;
  const [hash, from, value] = [parseHash(row['hash']), parseAddressBytes(row['from']), parseQuantity(row['value'])];
  const to = row['to'] == null ? null : parseAddressBytes(row['to']);
  return hash === null || from === null || value === null ? null : { hash, from, to, value };
}

/** Returns the receipt of a transaction in this block; null when the RPC node lacks it. */
export const getReceiptInBlock = (number: bigint, hash: string): RpcCall<Receipt | null> => {
  const isOf = (row: unknown) => isJsonObject(row) && parseHash(row['transactionHash']) === hash;
  return {
    method: 'eth_getBlockReceipts',
    params: [tagOf(number)],
    pruning: {
      ...RECEIPT_PRUNING,
      keptItem: (item, list) => {
        if (list === 'result') return isOf(item) ? item : undefined;
        return RECEIPT_PRUNING.keptItem(item, list);
      },
    },
    read: (answer) => {
      if (answer === null) return null;
      if (!Array.isArray(answer)) return undefined;
      const row: unknown = answer.find(isOf);
      return row === undefined ? null : readReceipt(row, hash);
    },
  };
};
