import type { BlockCalls } from '#chains/rpc/absence-check.ts';
import { isObject } from '#chains/rpc/is-object.ts';
import type { RpcCall } from '#chains/rpc/json-rpc.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { Address } from '@solana/kit';

/** How sure a node has to be: voted on by two thirds of the stake, or beyond any fork. */
export type Commitment = 'confirmed' | 'finalized';

/** An account as it is now; null for one that does not exist. */
export interface Account {
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly isExecutable: boolean;
}

export interface At<T> {
  readonly slot: bigint;
  readonly value: T;
}

export interface Simulation {
  /** The network's own words; null when it would be carried out. */
  readonly error: string | null;
  readonly logs: readonly string[];
  readonly units: bigint;
}

export interface Status {
  readonly slot: bigint;
  /** It was carried out in vain: it has paid its fee and used its durable nonce up, and nothing else has happened. */
  readonly failed: boolean;
  readonly commitment: 'processed' | Commitment;
}

/** What a token account holds. */
export interface TokenBalance {
  readonly account: Address;
  readonly owner: Address | null;
  readonly mint: Address;
  readonly units: bigint;
  readonly decimals: number;
}

/** A transaction with what it did to every account that it names. */
export interface MinedTransaction {
  readonly slot: bigint;
  readonly error: string | null;
  readonly fee: bigint;
  /** The first of them pays the fee. */
  readonly accounts: readonly Address[];
  readonly lamportsBefore: readonly bigint[];
  readonly lamportsAfter: readonly bigint[];
  readonly tokensBefore: readonly TokenBalance[];
  readonly tokensAfter: readonly TokenBalance[];
}

export const getGenesisHash: RpcCall<string> = {
  method: 'getGenesisHash',
  params: [],
  read: (answer) => (typeof answer === 'string' && isPublicKey(answer) ? answer : undefined),
};

export const getBlockHeight = (commitment: Commitment): RpcCall<bigint> => whole('getBlockHeight', [{ commitment }]);

export const getSlot = (commitment: Commitment): RpcCall<bigint> => whole('getSlot', [{ commitment }]);

export const getMinimumRent = (bytes: number): RpcCall<bigint> => whole('getMinimumBalanceForRentExemption', [bytes]);

/** Several at one and the same slot. */
export const getAccounts = (
  addresses: readonly Address[],
  commitment: Commitment = 'confirmed',
): RpcCall<At<readonly (Account | null)[]>> => ({
  method: 'getMultipleAccounts',
  params: [addresses, { commitment, encoding: 'base64' }],
  read: (answer) => {
    const slotted = withSlot(answer);
    if (slotted === undefined || !Array.isArray(slotted.value) || slotted.value.length !== addresses.length)
      return undefined;
    const accounts = slotted.value.map(accountOf);
    return accounts.includes(undefined)
      ? undefined
      : { slot: slotted.slot, value: accounts.map((account) => account ?? null) };
  },
});

export const getTokenAccounts = (
  owner: Address,
  program: Address,
  commitment: Commitment,
): RpcCall<readonly { readonly address: Address; readonly mint: Address }[]> => ({
  method: 'getTokenAccountsByOwner',
  params: [owner, { programId: program }, { commitment, encoding: 'jsonParsed' }],
  read: (answer) => {
    const slotted = withSlot(answer);
    if (slotted === undefined || !Array.isArray(slotted.value)) return undefined;
    const read = slotted.value.map((row: unknown) => {
      const address = field(row, 'pubkey');
      const mint = field(field(field(field(field(row, 'account'), 'data'), 'parsed'), 'info'), 'mint');
      return isAddressText(address) && isAddressText(mint) ? [{ address, mint }] : [];
    });
    return read.flat();
  },
});

/** Every account of the token program that holds a token for a wallet, with what is in it. */
export const getAccountsOfMint = (
  owner: Address,
  mint: Address,
): RpcCall<readonly { readonly address: Address; readonly account: Account }[]> => ({
  method: 'getTokenAccountsByOwner',
  params: [owner, { mint }, { commitment: 'confirmed', encoding: 'base64' }],
  read: (answer) => {
    const slotted = withSlot(answer);
    if (slotted === undefined || !Array.isArray(slotted.value)) return undefined;
    return slotted.value.flatMap((row: unknown) => {
      const [address, account] = [field(row, 'pubkey'), accountOf(field(row, 'account'))];
      return isAddressText(address) && account ? [{ address, account }] : [];
    });
  },
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

/** What was paid of late, per compute unit in millionths of a lamport, for transactions that write to these accounts. */
export const getPrioritizationFees = (accounts: readonly Address[]): RpcCall<readonly bigint[]> => ({
  method: 'getRecentPrioritizationFees',
  params: [accounts],
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const prices = answer.map((row: unknown) => field(row, 'prioritizationFee'));
    return prices.every((price) => typeof price === 'bigint') ? prices : undefined;
  },
});

/** @param transaction base64; its signature and its blockhash do not matter */
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

/** Without a rehearsal, which was had, and without the node's own repetition: what is sent again, and when, is our affair. */
export const sendTransaction = (transaction: string): RpcCall<string> => ({
  method: 'sendTransaction',
  params: [transaction, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
  read: (answer) => (typeof answer === 'string' ? answer : undefined),
});

/** What a node looks up for one question. */
export const MAX_STATUSES = 256;

/** Null for one that the node does not know. It searches all that it has of its history. */
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

/** Null for one that the node does not have at this commitment. */
export const getTransaction = (hash: string, commitment: Commitment): RpcCall<MinedTransaction | null> => ({
  method: 'getTransaction',
  params: [hash, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }],
  read: (answer) => (answer === null ? null : landedOf(answer)),
});

/** The blockhash or durable nonce that a transaction hangs on; null for one that the node does not have. */
export const getLifetime = (hash: string): RpcCall<string | null> => ({
  method: 'getTransaction',
  params: [hash, { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }],
  read: (answer) => {
    if (answer === null) return null;
    const lifetime = field(field(field(answer, 'transaction'), 'message'), 'recentBlockhash');
    return typeof lifetime === 'string' ? lifetime : undefined;
  },
});

/** Agave's words (-32007, -32009). Its first code is also a provider's for 'too many requests', so that the words decide. */
const SKIPPED_SLOT = /^Slot \d+ was skipped/;

function getBlockAt(slot: bigint, transactionDetails: 'none' | 'signatures') {
  const options = { commitment: 'confirmed', transactionDetails, rewards: false, maxSupportedTransactionVersion: 0 };
  return { method: 'getBlock', params: [plain(slot), options], nullWords: SKIPPED_SLOT };
}

/** The hash of a block; null for a slot that has none. */
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

/** Newest first, at most a thousand. */
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

/** What a node gives at once. */
export const MAX_SIGNATURES_PER_PAGE = 1_000;

function whole(method: string, params: readonly unknown[]): RpcCall<bigint> {
  return { method, params, read: (answer) => (typeof answer === 'bigint' && answer >= 0n ? answer : undefined) };
}

/** JSON has no BigInt. Slots are far below what a double holds. */
function plain(slot: bigint): number {
  return Number.parseInt(slot.toString(), 10);
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function isAddressText(value: unknown): value is Address {
  return typeof value === 'string' && isPublicKey(value);
}

function withSlot(answer: unknown): At<unknown> | undefined {
  const slot = field(field(answer, 'context'), 'slot');
  return typeof slot === 'bigint' ? { slot, value: field(answer, 'value') } : undefined;
}

/** Undefined for what is neither an account nor the word that there is none. */
function accountOf(value: unknown): Account | null | undefined {
  if (value === null) return null;
  const { lamports, owner, data, executable } = fieldsOf(value);
  const [encoded] = Array.isArray(data) ? (data as readonly unknown[]) : [];
  if (typeof lamports !== 'bigint' || !isAddressText(owner) || typeof encoded !== 'string') return undefined;
  return { lamports, owner, data: bytesOfBase64(encoded), isExecutable: executable === true };
}

function bytesOfBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

/** As the network writes it: `{"InstructionError":[0,{"Custom":1}]}`, or a word. */
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
  // The order in which balances are told: those of the message, then those of the tables.
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
  };
}

function isLamports(value: unknown, length: number): value is readonly bigint[] {
  return Array.isArray(value) && value.length === length && value.every((one) => typeof one === 'bigint');
}

function tokensOf(list: unknown, accounts: readonly Address[]): readonly TokenBalance[] | undefined {
  // Nodes without token balances for a block say null.
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return undefined;
  const read = list.map((row: unknown): TokenBalance | undefined => {
    const { accountIndex, mint, owner, uiTokenAmount } = fieldsOf(row);
    const { amount, decimals } = fieldsOf(uiTokenAmount);
    const account = typeof accountIndex === 'bigint' ? accounts[plain(accountIndex)] : undefined;
    if (account === undefined || !isAddressText(mint) || typeof decimals !== 'bigint') return undefined;
    if (typeof amount !== 'string' || !/^[0-9]{1,20}$/.test(amount)) return undefined;
    return {
      account,
      mint,
      owner: isAddressText(owner) ? owner : null,
      units: BigInt(amount),
      decimals: plain(decimals),
    };
  });
  return read.includes(undefined) ? undefined : read.filter((one) => one !== undefined);
}
