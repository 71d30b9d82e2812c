import type { Address, Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { parseAddressBytes, parseHash, parseHexBytes, parseQuantity } from '#chains/evm/rules/hex.ts';
import { operatorFeeIn } from '#chains/evm/client/operator-fee.ts';
import { MOVEMENT_TOPICS } from '#chains/evm/rules/transfer-topics.ts';
import type { NodeFault, RpcCall } from '#chains/rpc/json-rpc.ts';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { redacted } from '#chains/rpc/redact.ts';
import type { Call } from '#chains/evm/rules/call.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

export type BlockTag = 'latest' | 'pending' | 'finalized' | bigint;

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  /** Wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
}

export interface Log {
  /** The index of the log in its block. */
  readonly index: bigint;
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

export interface Receipt {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  /** What a rollup charges besides gas: data fee and operator fee, in wei; 0 elsewhere. */
  readonly rollupFee: bigint;
  readonly logs: readonly Log[];
  /** Logs are missing that the RPC node returned: they cannot be read, or move nothing. */
  readonly hasUnreadLogs: boolean;
}

/** A transaction as an RPC node returns it: what it does, and whether a block holds it. */
export interface KnownTransaction {
  readonly mined: boolean;
  readonly from: Hex;
  /** Null for the creation of a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly data: Hex;
  readonly gasLimit: bigint;
  /** No key signed it, and its sender pays no fee. */
  readonly isUnsigned: boolean;
  /** Wei that the chain minted for the sender before it ran the transaction. */
  readonly mint: bigint;
}

export const getChainId = quantity('eth_chainId', []);
export const getMaxPriorityFee = quantity('eth_maxPriorityFeePerGas', []);

export const getBalanceAt = (address: string, blockNumber: bigint): RpcCall<bigint> =>
  quantity('eth_getBalance', [address, tagOf(blockNumber)]);

export const getNonce = (address: string, tag: BlockTag): RpcCall<bigint> =>
  quantity('eth_getTransactionCount', [address, tagOf(tag)]);

export const getCode = (address: string): RpcCall<Hex> => bytes('eth_getCode', [address, 'latest']);

export const estimateGas = (from: string, call: Call): RpcCall<bigint> =>
  quantity('eth_estimateGas', [callOf(from, call)]);

/** Returns the tip that Linea requires for a call, which depends on the bytes. */
export const getLineaTip = (from: string, call: Call): RpcCall<bigint> => ({
  method: 'linea_estimateGas',
  params: [callOf(from, call)],
  read: (answer) => (isJsonObject(answer) ? parseQuantity(answer['priorityFeePerGas']) : null) ?? undefined,
});

/** Returns the return data of a call in the state after a block. */
export const ethCall = (from: string, call: Call, tag: BlockTag): RpcCall<Hex> =>
  bytes('eth_call', [callOf(from, call), tagOf(tag)]);

/** The sender of calls whose result does not depend on the sender. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** Returns what a contract returns to any caller in the state after a block. */
export const readContractAt = (to: Address, data: Hex, tag: BlockTag): RpcCall<Hex> =>
  ethCall(ZERO_ADDRESS, { to, value: 0n, data }, tag);

/** Returns what a contract returns to any caller in the newest state. */
export const readContract = (to: Address, data: Hex): RpcCall<Hex> => readContractAt(to, data, 'latest');

/** Replays a transaction that is in a block, with its own gas. */
export const replay = (known: KnownTransaction, tag: BlockTag): RpcCall<Hex> => {
  const { from, to, value, data, gasLimit } = known;
  const call = { from, ...(to === null ? {} : { to }), value: numberToHex(value), data, gas: numberToHex(gasLimit) };
  return bytes('eth_call', [call, tagOf(tag)]);
};

export const sendRawTransaction = (raw: string): RpcCall<Hex> => ({
  method: 'eth_sendRawTransaction',
  params: [raw],
  read: (answer) => parseHash(answer) ?? undefined,
});

export const getBlock = (tag: BlockTag): RpcCall<Block | null> => ({
  method: 'eth_getBlockByNumber',
  params: [tagOf(tag), false],
  read: (answer) => (answer === null ? null : readBlock(answer)),
});

/** The fields of every JSON-RPC answer. */
export const ANSWER_FIELDS = ['jsonrpc', 'id', 'result', 'error', 'code', 'message'];
const RECEIPT_FIELDS = [
  'transactionHash',
  'blockNumber',
  'blockHash',
  'status',
  'gasUsed',
  'effectiveGasPrice',
  'logs',
];
const ROLLUP_FIELDS = ['l1Fee', 'operatorFeeScalar', 'operatorFeeConstant', 'daFootprintGasScalar'];
const LOG_FIELDS = ['logIndex', 'address', 'topics', 'data'];

/** A contract decides how many logs a receipt has. Only those that can move an asset are kept. */
export const RECEIPT_PRUNING: Pruning = {
  keeps: new Set([...ANSWER_FIELDS, ...RECEIPT_FIELDS, ...ROLLUP_FIELDS, ...LOG_FIELDS]),
  // The position of the others stays, so that a reader knows that there were more.
  keptItem: (item, list) => (list !== 'logs' || isMovementLog(item) ? item : null),
};

function isMovementLog({ topics }: Readonly<Record<string, unknown>>): boolean {
  const [topic]: readonly unknown[] = Array.isArray(topics) ? topics : [];
  return typeof topic === 'string' && MOVEMENT_TOPICS.has(topic.toLowerCase());
}

export const getReceipt = (hash: string): RpcCall<Receipt | null> => ({
  method: 'eth_getTransactionReceipt',
  params: [hash],
  pruning: RECEIPT_PRUNING,
  read: (answer) => (answer === null ? null : readReceipt(answer, hash)),
});

export const getTransaction = (hash: string): RpcCall<KnownTransaction | null> => ({
  method: 'eth_getTransactionByHash',
  params: [hash],
  read: (answer) => (answer === null ? null : readTransaction(answer, hash)),
});

/** Returns the Unix seconds of a block; null for a block that the RPC node does not have. */
export const getBlockTimestamp = (tag: BlockTag): RpcCall<bigint | null> => ({
  method: 'eth_getBlockByNumber',
  params: [tagOf(tag), false],
  read: (answer) => {
    if (answer === null) return null;
    return (isJsonObject(answer) ? parseQuantity(answer['timestamp']) : null) ?? undefined;
  },
});

export interface SimulatedCall {
  /** The fault that `eth_call` would return; null for a call that succeeds. */
  readonly fault: NodeFault | null;
  readonly logs: readonly Log[];
}

/**
 * Runs a call on the newest block, without its fee, and reports every payment of the native asset
 * in the form of a token's.
 */
export const ethSimulate = (from: string, call: Call): RpcCall<SimulatedCall> => ({
  method: 'eth_simulateV1',
  params: [
    { blockStateCalls: [{ calls: [callOf(from, call)] }], traceTransfers: true, validation: false },
    tagOf('latest'),
  ],
  read: (answer) => {
    const [block, ...others] = Array.isArray(answer) ? (answer as readonly unknown[]) : [];
    const calls = isJsonObject(block) ? block['calls'] : undefined;
    const [first, ...rest] = Array.isArray(calls) ? (calls as readonly unknown[]) : [];
    if (others.length > 0 || rest.length > 0 || !isJsonObject(first)) return undefined;
    const logs = Array.isArray(first['logs']) ? every(first['logs'].map(readLog)) : undefined;
    const status = parseQuantity(first['status']);
    if (logs === undefined || (status !== 0n && status !== 1n)) return undefined;
    return status === 1n ? { fault: null, logs } : { fault: faultIn(first), logs: [] };
  },
});

function faultIn({ error, returnData }: Readonly<Record<string, unknown>>): NodeFault {
  const { message, data } = isJsonObject(error) ? error : {};
  const detail = redacted(typeof message === 'string' ? message : 'execution reverted');
  return { kind: 'error-answer', code: REVERT_CODE, detail, data: data ?? returnData };
}

/** geth's code for a revert. */
export const REVERT_CODE = 3;

/** The maximum tips that a tenth, half and nine tenths of the gas of a block paid. */
export interface PaidTips {
  readonly low: bigint;
  readonly middle: bigint;
  readonly high: bigint;
}

/**
 * Returns the tips of each of the last blocks. A block whose tips cannot be read is left out: it
 * must not void the others, which bound what the RPC node suggests.
 */
export const getFeeHistory: RpcCall<readonly PaidTips[]> = {
  method: 'eth_feeHistory',
  params: ['0xa', 'latest', [10, 50, 90]],
  read: (answer) => {
    const reward = isJsonObject(answer) ? answer['reward'] : undefined;
    if (!Array.isArray(reward)) return undefined;
    return reward.map(readTips).filter((tips) => tips !== null);
  },
};

function readTips(answer: unknown): PaidTips | null {
  if (!Array.isArray(answer)) return null;
  const [low, middle, high] = (answer as readonly unknown[]).map(parseQuantity);
  return low == null || middle == null || high == null ? null : { low, middle, high };
}

function readBlock(answer: unknown): Block | undefined {
  if (!isJsonObject(answer)) return undefined;
  const [number, hash] = [parseQuantity(answer['number']), parseHash(answer['hash'])];
  const base = answer['baseFeePerGas'];
  const baseFeePerGas = base === undefined || base === null ? null : (parseQuantity(base) ?? undefined);
  return number === null || hash === null || baseFeePerGas === undefined ? undefined : { number, hash, baseFeePerGas };
}

/** Returns undefined for a receipt that cannot be read, or is of another transaction. */
export function readReceipt(answer: unknown, hash: string): Receipt | undefined {
  if (!isJsonObject(answer) || parseHash(answer['transactionHash']) !== hash) return undefined;
  const [blockNumber, blockHash] = [parseQuantity(answer['blockNumber']), parseHash(answer['blockHash'])];
  const [gasUsed, effectiveGasPrice] = [parseQuantity(answer['gasUsed']), parseQuantity(answer['effectiveGasPrice'])];
  const status = parseQuantity(answer['status']);
  const l1Fee = answer['l1Fee'] == null ? 0n : parseQuantity(answer['l1Fee']);
  const operatorFee = gasUsed === null ? null : operatorFeeIn(answer, gasUsed);
  // One odd log must not hide the others.
  const rows: readonly unknown[] | undefined = Array.isArray(answer['logs']) ? answer['logs'] : undefined;
  const logs = rows?.flatMap((log) => readLog(log) ?? []);
  if (blockNumber === null || blockHash === null || gasUsed === null || effectiveGasPrice === null) return undefined;
  if ((status !== 0n && status !== 1n) || l1Fee === null || operatorFee === null || logs === undefined)
    return undefined;
  const rollupFee = l1Fee + operatorFee;
  const hasUnreadLogs = logs.length !== rows?.length;
  const succeeded = status === 1n;
  return { blockNumber, blockHash, succeeded, gasUsed, effectiveGasPrice, rollupFee, logs, hasUnreadLogs };
}

function readLog(answer: unknown): Log | null {
  if (!isJsonObject(answer) || !Array.isArray(answer['topics'])) return null;
  const [address, data] = [parseAddressBytes(answer['address']), parseHexBytes(answer['data'])];
  const topics = every(answer['topics'].map(parseHash));
  const index = parseQuantity(answer['logIndex']);
  return address === null || data === null || topics === undefined || index === null
    ? null
    : { index, address, topics, data };
}

/** ArbitrumDepositTx: the chain mints its value for the sender, who pays it on. */
const ARBITRUM_DEPOSIT = 0x64n;
/**
 * The types of transactions (EIP-2718) that a chain makes by itself. An unsigned transaction of
 * Arbitrum that an account sends on Ethereum (0x65, 0x66) is not among them: it pays its fee.
 *
 * - 0x64, 0x68, 0x69, 0x6a: deposits, retryable tickets and internal transactions of Arbitrum
 * - 0x7e: deposits of the OP stack, and messages from Ethereum on Scroll
 * - 0x7f: state syncs of Polygon
 */
const UNSIGNED_TYPES: ReadonlySet<bigint> = new Set([ARBITRUM_DEPOSIT, 0x68n, 0x69n, 0x6an, 0x7en, 0x7fn]);

/** Returns undefined for a transaction that cannot be read, or has another hash. */
export function readTransaction(answer: unknown, hash: string): KnownTransaction | undefined {
  if (!isJsonObject(answer) || parseHash(answer['hash']) !== hash) return undefined;
  const [from, data] = [parseAddressBytes(answer['from']), parseHexBytes(answer['input'])];
  const to = answer['to'] == null ? null : parseAddressBytes(answer['to']);
  const [value, gasLimit] = [parseQuantity(answer['value']), parseQuantity(answer['gas'])];
  if (from === null || data === null || value === null || gasLimit === null) return undefined;
  // An unreadable address is a malformed response, and not the creation of a contract.
  if (to === null && answer['to'] != null) return undefined;
  const mined = answer['blockHash'] !== undefined && answer['blockHash'] !== null;
  const type = answer['type'] == null ? null : parseQuantity(answer['type']);
  const stated = answer['mint'] == null ? 0n : parseQuantity(answer['mint']);
  if (stated === null) return undefined;
  const mint = type === ARBITRUM_DEPOSIT ? value : stated;
  return { mined, from, to, value, data, gasLimit, isUnsigned: type !== null && UNSIGNED_TYPES.has(type), mint };
}

function quantity(method: string, params: readonly unknown[]): RpcCall<bigint> {
  return { method, params, read: (answer) => parseQuantity(answer) ?? undefined };
}

function bytes(method: string, params: readonly unknown[]): RpcCall<Hex> {
  return { method, params, read: (answer) => parseHexBytes(answer) ?? undefined };
}

function callOf(from: string, { to, value, data }: Call) {
  return { from, to, value: numberToHex(value), data };
}

export function tagOf(tag: BlockTag): string {
  return typeof tag === 'bigint' ? numberToHex(tag) : tag;
}

/** Returns all values, or undefined when one is missing. */
function every<T>(values: readonly (T | null)[]): readonly T[] | undefined {
  const present = values.filter((value) => value !== null);
  return present.length === values.length ? present : undefined;
}
