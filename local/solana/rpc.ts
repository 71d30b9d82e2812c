import type { Address, CompiledTransactionMessage, Transaction } from '@solana/kit';
import { getBase58Decoder, getTransactionDecoder } from '@solana/kit';
import { stringifyJsonWithBigInts } from '@solana/rpc-spec-types';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';

/** 32 bytes whose base58 begins with the name of the local cluster. */
const GENESIS = `${LOCAL_CLUSTER}111111111111`;

/** A transaction as a chain stores it. */
export interface Entry {
  readonly hash: string;
  readonly slot: bigint;
  readonly error: unknown;
  readonly fee: bigint;
  readonly accounts: readonly Address[];
  readonly before: readonly Snapshot[];
  readonly after: readonly Snapshot[];
  readonly logs: readonly string[];
  /** Its blockhash or durable nonce; absent in older files. */
  readonly lifetime?: string;
  /** Absent in older files. The data is base58. */
  readonly instructions?: readonly { readonly programIdIndex: number; readonly data: string }[];
}

export interface Snapshot {
  readonly lamports: bigint;
  /** Null for an account that holds no token. */
  readonly token: {
    readonly mint: string;
    readonly owner: string;
    readonly units: bigint;
    readonly decimals: number | bigint;
  } | null;
}

/** The state of a node. */
export interface ChainView {
  /** The newest confirmed slot. */
  readonly slot: bigint;
  /** The newest final slot. */
  readonly finalizedSlot: bigint;
  latestBlockhash(): { readonly blockhash: string; readonly lastHeight: bigint };
  /** Returns the number of blocks up to a slot; absent when every slot has one. */
  heightAt?(slot: bigint): bigint;
  rent(bytes: bigint): bigint;
  /** The price per compute unit of the newest executed transactions, in millionths of a lamport. */
  readonly price: bigint;
  /** @param slot of the state; a chain may know only its newest one */
  account(at: Address, slot: bigint): Account | null;
  tokenAccounts(owner: Address): readonly { readonly address: Address; readonly mint: Address }[];
  entry(hash: string): Entry | null;
  /** Newest first. */
  naming(at: Address): readonly Entry[];
  /** Returns the hash of the block in a slot; null when there is none. */
  blockhashOf(slot: bigint): string | null;
  hashesIn(slot: bigint): readonly string[];
  simulate(wire: Uint8Array): { readonly error: unknown; readonly logs: readonly string[]; readonly units: bigint };
  /** Returns null for a silently dropped transaction, `signature` for a wrong signature. */
  send(wire: Uint8Array): Pick<Entry, 'hash'> | 'signature' | null;
  airdrop(to: Address, amount: bigint): Pick<Entry, 'hash'>;
}

/** A refusal of the node, with its code. */
class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Returns the response of the JSON-RPC interface of a Solana node, as far as Conclave uses it.
 * Integers of 64 bits are plain JSON numbers of any size, as the node writes them.
 */
export function answerRpc(view: ChainView, sent: string): string {
  const { id, method, params = [] }: { id: unknown; method: string; params?: readonly unknown[] } = JSON.parse(sent);
  try {
    const answer = METHODS[method];
    if (answer === undefined) throw new Refusal(-32601, 'Method not found');
    return stringifyJsonWithBigInts({ jsonrpc: '2.0', id, result: answer(view, params) });
  } catch (error) {
    const code = error instanceof Refusal ? error.code : -32602;
    return stringifyJsonWithBigInts({
      jsonrpc: '2.0',
      id,
      error: { code, message: error instanceof Error ? error.message : 'refused' },
    });
  }
}

/** Returns the hash of a transaction, whether or not it executes: its first signature. */
export function hashOf({ signatures }: Pick<Transaction, 'signatures'>): string {
  const [first] = Object.values(signatures);
  return getBase58Decoder().decode(first ?? new Uint8Array(64));
}

/** The most hashes in one request. */
const MAX_HASHES = 256;
/** The size of a packet of the network. */
const MAX_TRANSACTION_BYTES = 1_232;

type Method = (chain: ChainView, params: readonly unknown[]) => unknown;

const METHODS: Readonly<Record<string, Method>> = {
  getGenesisHash: () => GENESIS,
  getSlot: (chain, [options]) => headFor(chain, options),
  getBlockHeight: (chain, [options]) => heightAt(chain, headFor(chain, options)),
  getLatestBlockhash: (chain) => {
    const { blockhash, lastHeight } = chain.latestBlockhash();
    return inContext(chain, { blockhash, lastValidBlockHeight: lastHeight });
  },
  getMinimumBalanceForRentExemption: (chain, [bytes]) => chain.rent(BigInt(numberOf(bytes))),
  getRecentPrioritizationFees: (chain) => [{ slot: chain.slot, prioritizationFee: chain.price }],
  getBalance: (chain, [at]) => inContext(chain, chain.account(addressOf(at), chain.slot)?.lamports ?? 0n),
  getMultipleAccounts: (chain, [list, options]) => {
    if (!Array.isArray(list) || list.length > 100) throw new Refusal(-32602, 'Too many inputs provided; max 100');
    const slot = headFor(chain, options);
    const accounts = list.map((at) => encoded(chain.account(addressOf(at), slot)));
    return inContext(chain, accounts, slot);
  },
  getTokenAccountsByOwner: (chain, [owner, filter, options]) => {
    const { programId, mint: requested } = filter as { readonly programId?: string; readonly mint?: string };
    if ((programId === undefined) === (requested === undefined)) throw new Refusal(-32602, 'Invalid param: filter');
    const { encoding, dataSlice } = (options ?? {}) as { readonly encoding?: string; readonly dataSlice?: Slice };
    if (encoding !== 'base64') throw new Refusal(-32602, 'Invalid param: encoding');
    const slot = headFor(chain, options);
    const shown = chain.tokenAccounts(addressOf(owner)).flatMap(({ address, mint }) => {
      const account = chain.account(address, slot);
      const isRequested = requested === undefined ? account?.owner === programId : mint === requested;
      return account !== null && isRequested ? [{ pubkey: address, account: encoded(account, dataSlice) }] : [];
    });
    return inContext(chain, shown, slot);
  },
  simulateTransaction: (chain, [wire]) => {
    const { error, logs, units } = chain.simulate(bytesOf(wire));
    return inContext(chain, { err: error, logs, unitsConsumed: units, accounts: null, returnData: null });
  },
  sendTransaction: (chain, [wire]) => {
    const bytes = bytesOf(wire);
    const sent = chain.send(bytes);
    if (sent === 'signature') throw new Refusal(-32003, 'Transaction signature verification failure');
    // A node also returns the signature of a transaction that the leader then drops.
    return sent === null ? hashOf(getTransactionDecoder().decode(bytes)) : sent.hash;
  },
  getSignatureStatuses: (chain, [hashes]) => {
    if (!Array.isArray(hashes) || hashes.length > MAX_HASHES) {
      throw new Refusal(-32602, `Too many inputs provided; max ${MAX_HASHES}`);
    }
    return inContext(
      chain,
      hashes.map((hash) => statusOf(chain, chain.entry(String(hash)))),
    );
  },
  getTransaction: (chain, [hash, options]) => {
    const entry = chain.entry(String(hash));
    return entry === null || entry.slot > headFor(chain, options) ? null : transactionOf(entry);
  },
  getBlock: (chain, [slot, options]) => {
    const number = BigInt(numberOf(slot));
    const blockhash = number > chain.slot ? null : chain.blockhashOf(number);
    const isUnknown = number > chain.slot || (blockhash === null && chain.heightAt === undefined);
    if (isUnknown) throw new Refusal(-32004, `Block not available for slot ${number}`);
    // The text of the node, which does not distinguish the two cases.
    const isMissing = `Slot ${number} was skipped, or missing due to ledger jump to recent snapshot`;
    if (blockhash === null) throw new Refusal(-32007, isMissing);
    const { transactionDetails } = (options ?? {}) as { readonly transactionDetails?: string };
    const signatures = transactionDetails === 'signatures' ? { signatures: chain.hashesIn(number) } : {};
    return { blockhash, blockHeight: heightAt(chain, number), parentSlot: number - 1n, blockTime: null, ...signatures };
  },
  getSignaturesForAddress: (chain, [at, options]) => {
    const { before, limit = 1000n } = (options ?? {}) as { readonly before?: string; readonly limit?: number | bigint };
    const all = chain.naming(addressOf(at));
    const start = before === undefined ? 0 : all.findIndex(({ hash }) => hash === before) + 1;
    return all
      .slice(start, start + numberOf(limit))
      .map(({ hash, slot, error }) => ({ signature: hash, slot, err: error, memo: null, blockTime: null }));
  },
  requestAirdrop: (chain, [to, amount]) => chain.airdrop(addressOf(to), BigInt(numberOf(amount))).hash,
};

function inContext(chain: ChainView, value: unknown, slot: bigint = chain.slot) {
  return { context: { apiVersion: '3.0.0', slot }, value };
}

function heightAt(chain: ChainView, slot: bigint): bigint {
  return chain.heightAt?.(slot) ?? slot;
}

function headFor(chain: ChainView, options: unknown): bigint {
  const { commitment } = (options ?? {}) as { readonly commitment?: string };
  return commitment === 'confirmed' || commitment === 'processed' ? chain.slot : chain.finalizedSlot;
}

function statusOf(chain: ChainView, entry: Entry | null) {
  if (entry === null) return null;
  const isConfirmed = entry.slot <= chain.slot;
  const confirmationStatus = entry.slot <= chain.finalizedSlot ? 'finalized' : isConfirmed ? 'confirmed' : 'processed';
  return { slot: entry.slot, confirmations: null, err: entry.error, confirmationStatus };
}

/** Returns the instructions of a message, as an entry stores them. */
export function instructionsOf(message: CompiledTransactionMessage): Entry['instructions'] & {} {
  if (message.version === 1) return [];
  return message.instructions.map(({ programAddressIndex, data }) => ({
    programIdIndex: programAddressIndex,
    data: getBase58Decoder().decode(data ?? new Uint8Array()),
  }));
}

function transactionOf({ hash, slot, error, fee, accounts, before, after, logs, ...rest }: Entry) {
  const tokens = (snapshots: Entry['before']) =>
    snapshots.flatMap(({ token }, accountIndex) => {
      if (token === null) return [];
      const { mint, owner, units, decimals } = token;
      return [{ accountIndex, mint, owner, uiTokenAmount: { amount: units.toString(), decimals } }];
    });
  return {
    slot,
    blockTime: null,
    version: 0,
    meta: {
      err: error,
      fee,
      preBalances: before.map(({ lamports }) => lamports),
      postBalances: after.map(({ lamports }) => lamports),
      preTokenBalances: tokens(before),
      postTokenBalances: tokens(after),
      loadedAddresses: { writable: [], readonly: [] },
      logMessages: logs,
    },
    transaction: {
      signatures: [hash],
      message: { accountKeys: accounts, recentBlockhash: rest.lifetime ?? '', instructions: rest.instructions ?? [] },
    },
  };
}

interface Slice {
  readonly offset: number | bigint;
  readonly length: number | bigint;
}

function encoded(account: Account | null, slice?: Slice) {
  if (account === null) return null;
  const { lamports, owner, data, isExecutable } = account;
  const offset = numberOf(slice?.offset ?? 0);
  const shown = data.subarray(offset, slice === undefined ? data.length : offset + numberOf(slice.length));
  return {
    lamports,
    owner,
    data: [Buffer.from(shown).toString('base64'), 'base64'],
    executable: isExecutable,
    rentEpoch: 18446744073709551615n,
    space: data.length,
  };
}

function addressOf(value: unknown): Address {
  if (typeof value !== 'string' || !isPublicKey(value)) throw new Refusal(-32602, 'Invalid param: Invalid');
  return value;
}

function bytesOf(value: unknown): Uint8Array {
  if (typeof value !== 'string') throw new Refusal(-32602, 'invalid transaction');
  const bytes = new Uint8Array(Buffer.from(value, 'base64'));
  if (bytes.length <= MAX_TRANSACTION_BYTES) return bytes;
  const most = `(max: encoded/raw 1644/${MAX_TRANSACTION_BYTES})`;
  throw new Refusal(-32602, `base64 encoded transaction too large: ${value.length} bytes ${most}`);
}

function numberOf(value: unknown): number {
  if (typeof value === 'bigint') return Number.parseInt(value.toString(), 10);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new Refusal(-32602, 'Invalid param');
  return value;
}
