import { isHash } from '#chains/bitcoin/rules/utxo.ts';
import type { BlockRef } from '#chains/bitcoin/rules/depth.ts';
import type { FeeRates } from '#chains/bitcoin/rules/fee-rate.ts';
import type { BlockCalls } from '#chains/rpc/absence-check.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { SEND } from '#chains/bitcoin/client/rpc-node.ts';
import type { RpcCall } from '#chains/rpc/json-rpc.ts';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

export interface UnspentOutput extends Utxo {
  readonly block: BlockRef;
}

interface Output {
  /** Null for a script without an address. */
  readonly address: string | null;
  readonly amount: bigint;
}

/** A transaction with its inputs. */
export interface ChainTransfer {
  readonly hash: string;
  readonly fee: bigint;
  /** BIP-141. */
  readonly weight: bigint;
  /** Empty for a miner's reward. */
  readonly inputs: readonly Output[];
  /** The UTXOs that the inputs spend, in their order. */
  readonly spends: readonly Pick<Utxo, 'txid' | 'vout'>[];
  readonly outputs: readonly Output[];
  readonly block: BlockRef;
}

/** What a confirmed or waiting transaction does to one wallet. */
export interface WalletTransfer {
  readonly hash: string;
  readonly block: BlockRef;
  /** The wallet's UTXOs that it spends. */
  readonly spends: readonly Utxo[];
  /** The outputs that it makes for the wallet. */
  readonly makes: readonly Pick<Utxo, 'vout' | 'amount'>[];
}

/** The transaction that spends an output. */
export interface Spend {
  readonly hash: string;
  readonly block: BlockRef;
}

/** The number of transactions in one page of an address's history. */
export const PAGE = 25;

const RAW = /^([0-9a-f]{2})+$/;

/** Returns null beyond the newest block. */
export const getBlockHash = (height: bigint): RpcCall<string | null> =>
  esplora(`block-height/${height}`, (answer) => (answer === null ? null : hashIn(answer)));

export const getTip: RpcCall<bigint> = esplora('blocks/tip/height', (answer) => wholeIn(answer));

export const BLOCK_CALLS: BlockCalls = {
  getHash: getBlockHash,
  getTransactionHashes: ({ hash }) =>
    esplora(`block/${hash}/txids`, (answer) => (answer === null ? null : listIn(answer, hashIn))),
  getHead: getTip,
  skipsNumbers: false,
};

/** Returns the balance by confirmed transactions only, in satoshi. */
export const getBalance = (address: string): RpcCall<bigint> =>
  esplora(`address/${address}`, (answer) => {
    const stats = fieldOf(answer, 'chain_stats');
    const [funded, spent] = [wholeIn(fieldOf(stats, 'funded_txo_sum')), wholeIn(fieldOf(stats, 'spent_txo_sum'))];
    return funded === undefined || spent === undefined || funded < spent ? undefined : funded - spent;
  });

/** Returns the outputs that no transaction spends, not even an unconfirmed one. */
export const getUtxos = (address: string): RpcCall<readonly UnspentOutput[]> =>
  esplora(`address/${address}/utxo`, (answer) =>
    listIn(answer, (one) => {
      const [txid, vout] = [hashIn(fieldOf(one, 'txid')), smallIn(fieldOf(one, 'vout'))];
      const [amount, block] = [wholeIn(fieldOf(one, 'value')), blockIn(fieldOf(one, 'status'))];
      if (txid === undefined || vout === undefined || amount === undefined || block === undefined) return undefined;
      return { txid, vout, amount, block };
    }),
  );

/**
 * Witnesses and scripts are most of a transaction, and a stranger decides what is in them. Of the
 * rest, these fields are read.
 */
const SKIPPED = new Set([
  'witness',
  'inner_witnessscript_asm',
  'inner_redeemscript_asm',
  'scriptsig',
  'scriptsig_asm',
  'scriptpubkey',
  'scriptpubkey_asm',
]);
const KEPT = new Set([
  'txid',
  'fee',
  'weight',
  'vin',
  'vout',
  'prevout',
  'value',
  'is_coinbase',
  'scriptpubkey_address',
  'status',
  'confirmed',
  'block_height',
  'block_hash',
]);

const WHOLE: Pruning = { keeps: KEPT, skips: SKIPPED, keptItem: (item) => item };

/**
 * Keeps of a page of transactions what concerns one wallet. Anyone can send it transactions of any
 * size, and the server decides how many are on a page. A position of an output is part of its name,
 * so each one stays.
 */
const ofWallet = (address: string): Pruning => ({
  keeps: KEPT,
  skips: SKIPPED,
  keptItem: (item, list) => (list === '' || addressOf(item) === address ? item : null),
});

function addressOf(item: Readonly<Record<string, unknown>>): unknown {
  return fieldOf(fieldOf(item, 'prevout') ?? item, 'scriptpubkey_address');
}

/** Returns null for a transaction that the server has never received, or has dropped. */
export const getTransaction = (hash: string): RpcCall<ChainTransfer | null> => ({
  ...esplora(`tx/${hash}`, (answer) => (answer === null ? null : transferIn(answer))),
  pruning: WHOLE,
});

/** Returns its bytes in hex; null when the server does not have it. */
export const getRawTransaction = (hash: string): RpcCall<string | null> =>
  esplora(`tx/${hash}/hex`, (answer) =>
    answer === null || (typeof answer === 'string' && RAW.test(answer)) ? answer : undefined,
  );

/** Returns null while no transaction spends the output, or when it does not exist. */
export const getOutspend = ({ txid, vout }: Pick<Utxo, 'txid' | 'vout'>): RpcCall<Spend | null> =>
  esplora(`tx/${txid}/outspend/${vout}`, (answer) => {
    if (answer === null || fieldOf(answer, 'spent') === false) return null;
    const [hash, block] = [hashIn(fieldOf(answer, 'txid')), blockIn(fieldOf(answer, 'status'))];
    return hash === undefined || block === undefined ? undefined : { hash, block };
  });

/**
 * Returns confirmed transactions, newest first.
 *
 * @param after the last one of the previous page, or null
 */
export const getConfirmedTransactions = (address: string, after: string | null): RpcCall<readonly WalletTransfer[]> =>
  walletPage(`address/${address}/txs/chain${after === null ? '' : `/${after}`}`, address);

/** Returns unconfirmed transactions, about 50 at most. */
export const getMempoolTransactions = (address: string): RpcCall<readonly WalletTransfer[]> =>
  walletPage(`address/${address}/txs/mempool`, address);

function walletPage(path: string, address: string): RpcCall<readonly WalletTransfer[]> {
  const read = (answer: unknown) => listIn(answer, (one) => walletTransferIn(one, address));
  return { ...esplora(path, read), pruning: ofWallet(address) };
}

/**
 * Returns an empty map when the server has no rates. An invalid entry (-1, null) does not affect
 * the others.
 */
export const getFeeRates: RpcCall<FeeRates> = esplora('fee-estimates', (answer) => {
  if (answer === null) return new Map();
  if (typeof answer !== 'object') return undefined;
  const rates = new Map<number, bigint>();
  for (const [blocks, rate] of Object.entries(answer)) {
    const found = /^[0-9]{1,4}$/.test(blocks) ? rateIn(rate) : undefined;
    if (found !== undefined) rates.set(Number.parseInt(blocks, 10), found);
  }
  return rates;
});

/**
 * Broadcasts bytes and returns the hash that the server reports.
 *
 * @param raw hex without 0x
 */
export const sendRawTransaction = (raw: string): RpcCall<string> => ({ method: SEND, params: [raw], read: hashIn });

function esplora<T>(path: string, read: (answer: unknown) => T | undefined): RpcCall<T> {
  return { method: path, params: [], read };
}

/** Satoshi per virtual byte. At this rate a payment would cost more than a bitcoin. */
const MAX_FEE_RATE = 1_000_000;

/**
 * Returns a rate in thousandths, which is the precision of the servers. A rate is a price per byte
 * and not an amount, so servers write it as a decimal number.
 */
function rateIn(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value <= 0n || value > MAX_FEE_RATE ? undefined : value * 1000n;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || value > MAX_FEE_RATE) return undefined;
  return BigInt(Math.ceil(value * 1000));
}

function transferIn(value: unknown): ChainTransfer | undefined {
  const [hash, fee] = [hashIn(fieldOf(value, 'txid')), wholeIn(fieldOf(value, 'fee'))];
  const weight = wholeIn(fieldOf(value, 'weight'));
  const inputs = listIn(fieldOf(value, 'vin'), inputIn);
  const outputs = listIn(fieldOf(value, 'vout'), outputIn);
  const block = blockIn(fieldOf(value, 'status'));
  if (hash === undefined || fee === undefined || weight === undefined || inputs === undefined) return undefined;
  if (outputs === undefined || block === undefined) return undefined;
  const real = inputs.flatMap((input) => input ?? []);
  return { hash, fee, weight, inputs: real, spends: real, outputs, block };
}

/** Returns what concerns a wallet. Items that were not kept are null. */
function walletTransferIn(value: unknown, address: string): WalletTransfer | undefined {
  const [hash, block] = [hashIn(fieldOf(value, 'txid')), blockIn(fieldOf(value, 'status'))];
  const own = <T extends object>(item: unknown, read: (item: unknown) => T | null | undefined) =>
    isJsonObject(item) && addressOf(item) === address ? read(item) : null;
  const inputs = listIn(fieldOf(value, 'vin'), (item) => own(item, inputIn));
  const outputs = listIn(fieldOf(value, 'vout'), (item) => own(item, outputIn));
  if (hash === undefined || block === undefined || inputs === undefined || outputs === undefined) return undefined;
  const makes = outputs.flatMap((output, vout) => (output === null ? [] : [{ vout, amount: output.amount }]));
  return { hash, block, spends: inputs.flatMap((input) => input ?? []), makes };
}

interface Input extends Output {
  readonly txid: string;
  readonly vout: number;
}

/** Returns null for the input of a miner's reward, which spends nothing. */
function inputIn(value: unknown): Input | null | undefined {
  if (fieldOf(value, 'is_coinbase') === true) return null;
  const [txid, vout] = [hashIn(fieldOf(value, 'txid')), smallIn(fieldOf(value, 'vout'))];
  const spent = outputIn(fieldOf(value, 'prevout'));
  return txid === undefined || vout === undefined || spent === undefined ? undefined : { txid, vout, ...spent };
}

function outputIn(value: unknown): Output | undefined {
  const [amount, address = null] = [wholeIn(fieldOf(value, 'value')), fieldOf(value, 'scriptpubkey_address')];
  if (amount === undefined || !(address === null || typeof address === 'string')) return undefined;
  return { amount, address };
}

function blockIn(status: unknown): BlockRef | undefined {
  const isConfirmed = fieldOf(status, 'confirmed');
  if (isConfirmed === false) return null;
  const [height, hash] = [wholeIn(fieldOf(status, 'block_height')), hashIn(fieldOf(status, 'block_hash'))];
  return isConfirmed !== true || height === undefined || hash === undefined ? undefined : { height, hash };
}

function listIn<T>(value: unknown, read: (item: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: T[] = [];
  for (const item of value) {
    const found = read(item);
    if (found === undefined) return undefined;
    items.push(found);
  }
  return items;
}

function fieldOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

function hashIn(value: unknown): string | undefined {
  return typeof value === 'string' && isHash(value) ? value : undefined;
}

function wholeIn(value: unknown): bigint | undefined {
  return typeof value === 'bigint' && value >= 0n ? value : undefined;
}

/** Returns the number of an output. */
function smallIn(value: unknown): number | undefined {
  const whole = wholeIn(value);
  return whole === undefined || whole > 0xffffffffn ? undefined : Number.parseInt(whole.toString(), 10);
}
