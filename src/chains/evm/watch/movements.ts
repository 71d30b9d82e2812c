import type { Hex } from 'viem';
import { getAddress } from 'viem/utils';
import type { KnownTransaction, Log, Receipt } from '#chains/evm/client/rpc-calls.ts';
import type { TraceCall } from '#chains/evm/client/trace-calls.ts';
import { TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE } from '#chains/evm/rules/transfer-topics.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { partyOf, wordsOf } from '#chains/evm/watch/log-words.ts';
import { wrappedMovements } from '#chains/evm/watch/wrapped-asset.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';

/**
 * Returns all movements of a mined transaction: its own payment, the payments by contracts, and the
 * tokens of its logs. When it failed, only what the chain minted for its sender moved: the OP stack
 * keeps a deposit whose call fails. Without a trace the payments by contracts are missing.
 */
export function movementsIn(
  receipt: Receipt,
  known: KnownTransaction,
  { trace, chain }: { readonly trace: TraceCall | null; readonly chain: Pick<Chain, 'tokens' | 'nativeSymbol'> },
): readonly ChainMovement[] {
  if (!receipt.succeeded) return mintOf(known);
  const inner = trace === null ? [] : innerPayments(trace);
  return [...mintOf(known), ...ownPayment(known), ...inner, ...tokenMovements(receipt.logs, chain)];
}

/** The address of the logs of native payments since ERC-7708. */
export const NATIVE_LOG_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe';
/** The address of the same logs in a simulation (eth_simulateV1, `traceTransfers`). */
export const SIMULATED_LOG_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

/**
 * Returns the movements of tokens that logs show. Logs of native payments are none: the payments
 * are read from the transaction and its trace.
 */
export function tokenMovements(
  logs: readonly Log[],
  chain: Pick<Chain, 'tokens' | 'nativeSymbol'>,
): readonly ChainMovement[] {
  const ofTokens = logs.filter(({ address }) => address !== NATIVE_LOG_ADDRESS && address !== SIMULATED_LOG_ADDRESS);
  return [...ofTokens.flatMap(logMovements), ...wrappedMovements(ofTokens, chain)];
}

function mintOf({ from, mint }: KnownTransaction): readonly ChainMovement[] {
  return mint === 0n ? [] : [native('mint', 'native', { from: null, to: from, value: mint })];
}

/**
 * Returns the payment of the transaction's own bytes; none when its value is 0, or when a deposit
 * pays its own sender.
 */
export function ownPayment({ from, to, value, mint }: KnownTransaction): readonly ChainMovement[] {
  return value === 0n || (mint > 0n && from === to) ? [] : [native('top', 'native', { from, to, value })];
}

/**
 * Returns the payments by contracts, identified by their position in the call tree. A reverted call
 * pays nothing, nor do its inner calls.
 */
function innerPayments(root: TraceCall): readonly ChainMovement[] {
  const walk = (call: TraceCall | null, path: readonly number[]): ChainMovement[] => {
    if (call === null || call.failed) return [];
    const pays = path.length > 0 && call.value > 0n && call.isPayment;
    const own = pays ? [native(`trace:${path.join('_')}`, 'internal', call)] : [];
    return [...own, ...call.calls.flatMap((inner, i) => walk(inner, [...path, i]))];
  };
  return walk(root, []);
}

interface Payment {
  /** Null for an amount that the chain mints. */
  readonly from: Hex | null;
  /** Null for the creation of a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
}

function native(uid: string, kind: 'native' | 'internal', { from, to, value }: Payment): ChainMovement {
  const parties = { from: from === null ? null : getAddress(from), to: to === null ? null : getAddress(to) };
  return { uid, kind, ...parties, tokenAddress: null, tokenId: null, amount: amountOf(value) };
}

/**
 * Returns the token movements of one log; none for a log that is not exactly a transfer of the
 * three standards.
 */
export function logMovements(log: Log): readonly ChainMovement[] {
  const [topic, ...indexed] = log.topics;
  const words = wordsOf(log.data);
  const uid = `log:${log.index}`;
  const tokenAddress = getAddress(log.address);
  // Tokens from before ERC-20 was final index nothing (CryptoKitties): all three words are data.
  if (topic === TRANSFER && indexed.length === 0) return unindexedMovement(log, { uid, tokenAddress });
  if (topic === TRANSFER && words !== null) {
    const [from, to, id] = indexed;
    if (from === undefined || to === undefined) return [];
    const parties = { from: partyOf(from), to: partyOf(to), tokenAddress };
    if (id !== undefined && words.length === 0) {
      return [{ uid, kind: 'erc721', ...parties, tokenId: BigInt(id).toString(), amount: amountOf(1n) }];
    }
    const [amount, ...rest] = words;
    if (id !== undefined || amount === undefined || rest.length > 0) return [];
    return [{ uid, kind: 'erc20', ...parties, tokenId: null, amount: amountOf(amount) }];
  }
  if ((topic !== TRANSFER_SINGLE && topic !== TRANSFER_BATCH) || words === null) return [];
  const [, from, to] = indexed;
  if (from === undefined || to === undefined) return [];
  const held = topic === TRANSFER_SINGLE ? singleOf(words) : batchOf(words);
  return held.map(({ id, amount }, i): ChainMovement => ({
    uid: `${uid}:${i}`,
    kind: 'erc1155',
    from: partyOf(from),
    to: partyOf(to),
    tokenAddress,
    tokenId: id.toString(),
    amount: amountOf(amount),
  }));
}

/** The data of two addresses and an amount. */
const UNINDEXED_DATA = /^0x(?:0{24}[0-9a-f]{40}){2}[0-9a-f]{64}$/;

function unindexedMovement(
  { data }: Log,
  { uid, tokenAddress }: Pick<ChainMovement, 'uid' | 'tokenAddress'>,
): readonly ChainMovement[] {
  if (!UNINDEXED_DATA.test(data)) return [];
  const [from, to] = [partyOf(`0x${data.slice(2, 66)}`), partyOf(`0x${data.slice(66, 130)}`)];
  const amount = amountOf(BigInt(`0x${data.slice(130)}`));
  return [{ uid, kind: 'erc20', from, to, tokenAddress, tokenId: null, amount }];
}

interface Held {
  readonly id: bigint;
  readonly amount: bigint;
}

function singleOf(words: readonly bigint[]): readonly Held[] {
  const [id, amount, ...rest] = words;
  return id === undefined || amount === undefined || rest.length > 0 ? [] : [{ id, amount }];
}

/**
 * Decodes two dynamic arrays: offset, offset, then length and items of each. Inconsistent data is
 * no batch.
 */
function batchOf(words: readonly bigint[]): readonly Held[] {
  const ids = arrayAt(words, words[0]);
  const amounts = arrayAt(words, words[1]);
  if (ids === null || amounts === null || ids.length !== amounts.length) return [];
  return ids.map((id, i) => ({ id, amount: amounts[i] ?? 0n }));
}

function arrayAt(words: readonly bigint[], offset: bigint | undefined): readonly bigint[] | null {
  if (offset === undefined || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return null;
  const start = Number(offset / 32n);
  const length = words[start] ?? 0n;
  if (length > BigInt(words.length - start - 1)) return null;
  return words.slice(start + 1, start + 1 + Number(length));
}
