import type { BlockCalls } from '#chains/rpc/absence-check.ts';
import type { NodeFault, RpcCall } from '#chains/rpc/json-rpc.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { Account, At } from '#chains/solana/client/account-answers.ts';
import {
  accountOf,
  field,
  fieldsOf,
  holderOf,
  isAddressText,
  rowsIn,
  withSlot,
} from '#chains/solana/client/account-answers.ts';
import { memoIn } from '#chains/solana/client/memo-answers.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { Address } from '@solana/kit';

/**
 * How certain the RPC node must be: two thirds of the stake have voted for it, or it is beyond any
 * fork.
 */
export type Commitment = 'confirmed' | 'finalized';

export interface Simulation {
  /** The network's own message; null when execution would succeed. */
  readonly error: string | null;
  readonly logs: readonly string[];
  readonly units: bigint;
}

export interface Status {
  readonly slot: bigint;
  /**
   * True when execution failed: it has paid its fee and used its durable nonce, without any other
   * effect.
   */
  readonly failed: boolean;
  readonly commitment: 'processed' | Commitment;
}

/** The balance of a token account. */
export interface TokenBalance {
  /** Null when the RPC node does not show it. */
  readonly owner: Address | null;
  readonly mint: Address;
  readonly units: bigint;
  readonly decimals: number;
}

/** A transaction with its effect on every account that it names. */
export interface MinedTransaction {
  readonly slot: bigint;
  readonly error: string | null;
  readonly fee: bigint;
  /** The first account pays the fee. */
  readonly accounts: readonly Address[];
  readonly lamportsBefore: readonly bigint[];
  readonly lamportsAfter: readonly bigint[];
  readonly tokensBefore: readonly TokenBalance[];
  readonly tokensAfter: readonly TokenBalance[];
  /** Its memos, one in a line; null without any. */
  readonly memo: string | null;
}

export const getGenesisHash: RpcCall<string> = {
  method: 'getGenesisHash',
  params: [],
  read: (answer) => (typeof answer === 'string' && isPublicKey(answer) ? answer : undefined),
};

export const getBlockHeight = (commitment: Commitment): RpcCall<bigint> => whole('getBlockHeight', [{ commitment }]);

export const getSlot = (commitment: Commitment): RpcCall<bigint> => whole('getSlot', [{ commitment }]);

export const getMinimumRent = (bytes: number): RpcCall<bigint> => whole('getMinimumBalanceForRentExemption', [bytes]);

/** Reads several accounts at the same slot. */
export const getAccounts = (
  addresses: readonly Address[],
  commitment: Commitment = 'confirmed',
): RpcCall<At<readonly (Account | null)[]>> => ({
  method: 'getMultipleAccounts',
  params: [addresses, { commitment, encoding: 'base64' }],
  read: (answer) => {
    const rows = rowsIn(answer);
    if (rows?.value.length !== addresses.length) return undefined;
    const accounts = rows.value.map(accountOf);
    return accounts.includes(undefined)
      ? undefined
      : { slot: rows.slot, value: accounts.map((account) => account ?? null) };
  },
});

/**
 * Ours: about 17,000 accounts, each with some 450 bytes of JSON. Most RPC nodes do not give the
 * list in pages.
 */
const MAX_LIST_BYTES = 8_000_000;

/**
 * Returns every account of a token program that holds a token for a wallet, with the first bytes of
 * its content. Refuses a list with an unreadable row, because it would state too little.
 */
export const getTokenAccounts = (
  owner: Address,
  program: Address,
  { commitment, bytes }: { readonly commitment: Commitment; readonly bytes: number },
): RpcCall<At<readonly { readonly address: Address; readonly account: Account }[]>> => ({
  method: 'getTokenAccountsByOwner',
  params: [owner, { programId: program }, { commitment, encoding: 'base64', dataSlice: { offset: 0, length: bytes } }],
  maxBytes: MAX_LIST_BYTES,
  read: holdersIn,
});

/** Returns undefined for a list with an unreadable row. */
function holdersIn(
  answer: unknown,
): At<readonly { readonly address: Address; readonly account: Account }[]> | undefined {
  const rows = rowsIn(answer);
  const value = rows?.value.flatMap(holderOf);
  return rows !== undefined && value?.length === rows.value.length ? { slot: rows.slot, value } : undefined;
}

/**
 * Returns every account that holds a token for a wallet, with its content. Refuses a list with an
 * unreadable row: a payment that the account covers would end for missing funds.
 */
export const getAccountsOfMint = (
  owner: Address,
  mint: Address,
): RpcCall<readonly { readonly address: Address; readonly account: Account }[]> => ({
  method: 'getTokenAccountsByOwner',
  params: [owner, { mint }, { commitment: 'confirmed', encoding: 'base64' }],
  read: (answer) => holdersIn(answer)?.value,
});

export const getLatestBlockhash: RpcCall<{ readonly blockhash: string; readonly lastHeight: bigint }> = {
  method: 'getLatestBlockhash',
  params: [{ commitment: 'confirmed' }],
  read: (answer) => {
    const { blockhash, lastValidBlockHeight } = fieldsOf(withSlot(answer)?.value);
    if (!isAddressText(blockhash) || typeof lastValidBlockHeight !== 'bigint') return undefined;
    return { blockhash, lastHeight: lastValidBlockHeight };
  },
};

/**
 * Returns recent prices per compute unit, in millionths of a lamport, for transactions that write
 * to these accounts.
 */
export const getPrioritizationFees = (accounts: readonly Address[]): RpcCall<readonly bigint[]> => ({
  method: 'getRecentPrioritizationFees',
  params: [accounts],
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const prices = answer.map((row: unknown) => field(row, 'prioritizationFee'));
    return prices.every((price) => typeof price === 'bigint') ? prices : undefined;
  },
});

/**
 * Simulates a transaction.
 *
 * @param transaction base64; its signature and its blockhash do not matter
 */
export const simulateTransaction = (transaction: string): RpcCall<Simulation> => ({
  method: 'simulateTransaction',
  params: [
    transaction,
    { commitment: 'confirmed', encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true },
  ],
  read: (answer) => {
    const { err, logs, unitsConsumed } = fieldsOf(withSlot(answer)?.value);
    const lines = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string') : [];
    if (err === undefined || typeof unitsConsumed !== 'bigint') return undefined;
    return { error: errorText(err), logs: lines, units: unitsConsumed };
  },
});

/**
 * Sends without preflight, because a simulation ran before, and without the RPC node's own retries,
 * because Conclave itself decides when it sends again.
 */
export const sendTransaction = (transaction: string): RpcCall<string> => ({
  method: 'sendTransaction',
  params: [transaction, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
  read: (answer) => (typeof answer === 'string' ? answer : undefined),
});

/** The maximum number of statuses in one call. */
export const MAX_STATUSES = 256;

/**
 * Returns null for a signature that the RPC node does not have. The node searches its whole
 * history.
 */
export const getSignatureStatuses = (hashes: readonly string[]): RpcCall<At<readonly (Status | null)[]>> => ({
  method: 'getSignatureStatuses',
  params: [hashes, { searchTransactionHistory: true }],
  read: (answer) => {
    const slotted = withSlot(answer);
    if (slotted === undefined || !Array.isArray(slotted.value) || slotted.value.length !== hashes.length)
      return undefined;
    const read = slotted.value.map(statusOf);
    return read.includes(undefined) ? undefined : { slot: slotted.slot, value: read.map((status) => status ?? null) };
  },
});

/**
 * The highest transaction version that is decoded (SIMD-0385). An RPC node refuses to show a later
 * one. Its JSON has the accounts and balances where those of version 0 are, without tables. A
 * higher number would also return versions whose JSON is unknown.
 */
const MAX_TRANSACTION_VERSION = 1;

/** Agave's code for a transaction of a later version than the requested one. */
const UNSUPPORTED_VERSION = -32015;

/** Returns a refusal as `isUnread` when the RPC node has the transaction in an unknown version. */
export function unreadVersion(fault: NodeFault): NodeProblem {
  const isUnread = fault.kind === 'error-answer' && fault.code === UNSUPPORTED_VERSION;
  return isUnread ? { kind: 'unusable', detail: fault.detail, isUnread: true } : fault;
}

function getTransactionAt(hash: string, commitment: Commitment) {
  const options = { commitment, encoding: 'json', maxSupportedTransactionVersion: MAX_TRANSACTION_VERSION };
  return { method: 'getTransaction', params: [hash, options] };
}

/** Returns null for a transaction that the RPC node does not have at this commitment. */
export const getTransaction = (hash: string, commitment: Commitment): RpcCall<MinedTransaction | null> => ({
  ...getTransactionAt(hash, commitment),
  read: (answer) => (answer === null ? null : landedOf(answer)),
});

/**
 * Returns the blockhash or durable nonce of a transaction; null for one that the RPC node does not
 * have.
 */
export const getLifetime = (hash: string): RpcCall<string | null> => ({
  ...getTransactionAt(hash, 'confirmed'),
  read: (answer) => {
    if (answer === null) return null;
    const lifetime = field(field(field(answer, 'transaction'), 'message'), 'recentBlockhash');
    return typeof lifetime === 'string' ? lifetime : undefined;
  },
});

/**
 * Agave's message (-32007, -32009). Its first code is also a provider's for 'too many requests', so
 * the message decides.
 */
const SKIPPED_SLOT = /^Slot \d+ was skipped/;

function getBlockAt(slot: bigint, transactionDetails: 'none' | 'signatures') {
  const options = {
    commitment: 'confirmed',
    transactionDetails,
    rewards: false,
    maxSupportedTransactionVersion: MAX_TRANSACTION_VERSION,
  };
  return { method: 'getBlock', params: [plain(slot), options], nullWords: SKIPPED_SLOT };
}

/** Returns the hash of a block; null for a slot without a block. */
export const getBlockHashAt = (slot: bigint): RpcCall<string | null> => ({
  ...getBlockAt(slot, 'none'),
  read: (answer) => {
    if (answer === null) return null;
    const hash = field(answer, 'blockhash');
    return typeof hash === 'string' ? hash : undefined;
  },
});

export const BLOCK_CALLS: BlockCalls = {
  getHash: getBlockHashAt,
  getTransactionHashes: ({ number }) => ({
    ...getBlockAt(BigInt(number), 'signatures'),
    read: (answer) => (answer === null ? null : textsIn(field(answer, 'signatures'))),
  }),
  getHead: getSlot('confirmed'),
  skipsNumbers: true,
};

function textsIn(list: unknown): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const texts = list.filter((one): one is string => typeof one === 'string');
  return texts.length === list.length ? texts : undefined;
}

export interface Mention {
  readonly hash: string;
  readonly slot: bigint;
  readonly failed: boolean;
}

/** Returns the newest first, at most a thousand. */
export const getSignaturesForAddress = (address: Address, before: string | null): RpcCall<readonly Mention[]> => ({
  method: 'getSignaturesForAddress',
  params: [
    address,
    { commitment: 'confirmed', limit: MAX_SIGNATURES_PER_PAGE, ...(before === null ? {} : { before }) },
  ],
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const read = answer.map((row: unknown) => {
      const { signature, slot, err } = fieldsOf(row);
      return typeof signature === 'string' && typeof slot === 'bigint'
        ? { hash: signature, slot, failed: err !== null }
        : undefined;
    });
    return read.includes(undefined) ? undefined : read.filter((mention) => mention !== undefined);
  },
});

/** The maximum number that an RPC node returns at once. */
export const MAX_SIGNATURES_PER_PAGE = 1_000;

function whole(method: string, params: readonly unknown[]): RpcCall<bigint> {
  return { method, params, read: (answer) => (typeof answer === 'bigint' && answer >= 0n ? answer : undefined) };
}

/** JSON has no BigInt. Slots are far below the precision limit of a double. */
function plain(slot: bigint): number {
  return Number.parseInt(slot.toString(), 10);
}

/** Returns the network's notation: `{"InstructionError":[0,{"Custom":1}]}`, or a word. */
function errorText(error: unknown): string | null {
  if (error === null) return null;
  const text = (_key: string, value: unknown) => (typeof value === 'bigint' ? plain(value) : value);
  return typeof error === 'string' ? error : JSON.stringify(error, text);
}

function statusOf(value: unknown): Status | null | undefined {
  if (value === null) return null;
  const { slot, err, confirmationStatus } = fieldsOf(value);
  const commitment = (['processed', 'confirmed', 'finalized'] as const).find((one) => one === confirmationStatus);
  if (typeof slot !== 'bigint' || err === undefined || commitment === undefined) return undefined;
  return { slot, failed: err !== null, commitment };
}

function landedOf(answer: unknown): MinedTransaction | undefined {
  const { slot, meta, transaction } = fieldsOf(answer);
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances, loadedAddresses } = fieldsOf(meta);
  const { writable, readonly } = fieldsOf(loadedAddresses);
  const keys = field(field(transaction, 'message'), 'accountKeys');
  // The order of the balances: accounts of the message, then those of the tables.
  const accounts = [keys, writable, readonly].flatMap((list: unknown) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const isComplete =
    typeof slot === 'bigint' &&
    typeof fee === 'bigint' &&
    err !== undefined &&
    accounts.length > 0 &&
    accounts.every(isAddressText) &&
    isLamports(preBalances, accounts.length) &&
    isLamports(postBalances, accounts.length);
  if (!isComplete) return undefined;
  const [tokensBefore, tokensAfter] = [preTokenBalances, postTokenBalances].map((list) => tokensOf(list, accounts));
  if (tokensBefore === undefined || tokensAfter === undefined) return undefined;
  return {
    slot,
    error: errorText(err),
    fee,
    accounts,
    lamportsBefore: preBalances,
    lamportsAfter: postBalances,
    tokensBefore,
    tokensAfter,
    memo: memoIn(transaction, meta, accounts),
  };
}

function isLamports(value: unknown, length: number): value is readonly bigint[] {
  return Array.isArray(value) && value.length === length && value.every((one) => typeof one === 'bigint');
}

function tokensOf(list: unknown, accounts: readonly Address[]): readonly TokenBalance[] | undefined {
  // RPC nodes without token balances for a block return null.
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return undefined;
  const read = list.map((row: unknown): TokenBalance | undefined => {
    const { accountIndex, mint, owner, uiTokenAmount } = fieldsOf(row);
    const { amount, decimals } = fieldsOf(uiTokenAmount);
    const isNamed = typeof accountIndex === 'bigint' && accounts[plain(accountIndex)] !== undefined;
    if (!isNamed || !isAddressText(mint) || typeof decimals !== 'bigint') return undefined;
    if (typeof amount !== 'string' || !/^[0-9]{1,20}$/.test(amount)) return undefined;
    return {
      mint,
      owner: isAddressText(owner) ? owner : null,
      units: BigInt(amount),
      decimals: plain(decimals),
    };
  });
  return read.includes(undefined) ? undefined : read.filter((one) => one !== undefined);
}
