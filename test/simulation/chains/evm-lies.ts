import type { Hex } from 'viem';
import { numberToHex, pad } from 'viem/utils';
import { TRANSFER } from '#chains/evm/rules/transfer-topics.ts';
import type { Query } from './chain.ts';
import type { Block, EvmChain } from './evm-chain.ts';
import { TRANSFER_GAS, transactionJson } from './evm-chain.ts';
import type { FalseAnswer } from './lies.ts';
import { FAR } from './lies.ts';

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Liar extends Pick<Query, 'held'> {
  readonly chain: EvmChain;
}

/** The block in which the RPC node claims a transaction to be. */
type Position = Pick<Block, 'hash'> & { readonly number: bigint };

const FAR_POSITION: Position = { number: FAR, hash: `0x${'5e'.repeat(32)}` };
/** The number of blocks by which the RPC node's claimed head is ahead of the chain. */
const AHEAD = 1_000n;
const DEAR = 1_000_000n;
const LITTLE_GAS = 10_000n;
/** A thousand ether. */
const MUCH = 10n ** 21n;
const SEND = 'eth_sendRawTransaction';
const TOKEN = `0x${'7'.repeat(40)}`;

/**
 * Returns the answer of an EVM RPC node with this lie. @param honest returns the true answer to
 * another call
 */
export async function lyingResult(
  { chain, held }: Liar,
  lie: FalseAnswer,
  { method, params }: Call,
  honest: (call: Call) => Promise<unknown>,
): Promise<unknown> {
  const tag = String(method === 'eth_getBlockByNumber' ? params[0] : params.at(-1));
  const call = { method, params: withoutFuture(chain, params) };
  switch (lie) {
    case 'false-inclusion':
      return falseInclusion(chain, call, deepBlock(chain)) ?? honest(call);
    case 'far-inclusion':
      if (method === 'eth_getBlockByNumber') return farBlock(tag, await honest(call));
      return falseInclusion(chain, call, FAR_POSITION) ?? honest(call);
    case 'false-depth': {
      const answer = await honest(call);
      const isHead = method === 'eth_getBlockByNumber' && tag === 'latest';
      return isHead ? { ...(answer as object), number: numberToHex(BigInt(chain.height) + AHEAD) } : answer;
    }
    case 'false-finality':
      return honest(tag === 'finalized' ? { method, params: ['latest', ...params.slice(1)] } : call);
    case 'false-rate':
      return dear(method, await honest(call));
    case 'false-contents':
      return falseContents(call, honest);
    case 'false-gas':
      return method === 'eth_estimateGas' ? numberToHex(LITTLE_GAS) : honest(call);
    case 'unrelayed':
      return unrelayed({ chain, held }, call, await (method === SEND ? null : honest(call)));
    case 'false-nonce':
    case 'false-coin':
    case 'old-list':
    case 'false-account':
      return honest(call);
  }
}

/** Returns the parameters with the newest block in place of one beyond the chain. */
function withoutFuture(chain: EvmChain, params: readonly unknown[]): readonly unknown[] {
  const isFuture = (one: unknown) =>
    typeof one === 'string' && /^0x[0-9a-f]{1,12}$/.test(one) && BigInt(one) > chain.height;
  return params.map((one) => (isFuture(one) ? 'latest' : one));
}

function deepBlock(chain: EvmChain): Position {
  const number = chain.finalUnder(chain.height);
  return { number: BigInt(number), hash: chain.blocks[number]?.hash ?? FAR_POSITION.hash };
}

function farBlock(tag: string, honest: unknown): unknown {
  const ahead = { latest: 200n, pending: 200n, finalized: 100n }[tag];
  const number = ahead === undefined ? null : FAR + ahead;
  if (number !== null) return { ...(honest as object), number: numberToHex(number) };
  const isFar = tag === numberToHex(FAR);
  return isFar ? { ...(honest as object), number: tag, hash: FAR_POSITION.hash } : honest;
}

/**
 * Returns a receipt with a token that was never sent and a larger fee, and a trace in which a
 * contract pays the recipient.
 */
async function falseContents(call: Call, honest: (call: Call) => Promise<unknown>): Promise<unknown> {
  const { method, params } = call;
  const transfer = () => honest({ method: 'eth_getTransactionByHash', params: params.slice(0, 1) });
  if (method === 'debug_traceTransaction') {
    const { from, to, value } = Object(await transfer()) as { from: Hex; to: Hex; value: Hex };
    const paying = { type: 'CALL', from, to, value: numberToHex(MUCH), input: '0x' };
    return { type: 'CALL', from, to, value, input: '0x', calls: [paying] };
  }
  const answer = await honest(call);
  if (method !== 'eth_getTransactionReceipt' || answer === null) return answer;
  const receipt = answer as { readonly effectiveGasPrice: Hex; readonly blockHash: Hex; readonly blockNumber: Hex };
  const { from, to } = Object(await transfer()) as { from: Hex; to: Hex };
  const { blockHash, blockNumber } = receipt;
  const position = { blockHash, blockNumber, transactionHash: params[0], transactionIndex: '0x0', logIndex: '0x0' };
  const topics = [TRANSFER, pad(from), pad(to)];
  const log = { address: TOKEN, topics, data: numberToHex(MUCH, { size: 32 }), removed: false, ...position };
  return { ...receipt, effectiveGasPrice: numberToHex(BigInt(receipt.effectiveGasPrice) * 3n), logs: [log] };
}

/** Returns null for a call that is not about a transaction that was sent to this chain. */
function falseInclusion(chain: EvmChain, { method, params }: Call, position: Position): unknown {
  const transfer = chain.shown.get(String(params[0]) as `0x${string}`);
  if (transfer === undefined) return null;
  const { hash, from, to, value, nonce, gasLimit, maxFeePerGas } = transfer;
  const inBlock = { blockNumber: numberToHex(position.number), blockHash: position.hash };
  if (method === 'eth_getTransactionByHash') {
    const terms = { value: numberToHex(value), gas: numberToHex(gasLimit), nonce: numberToHex(nonce), input: '0x' };
    return { hash, from, to, ...terms, ...inBlock };
  }
  if (method !== 'eth_getTransactionReceipt') return null;
  const cost = { gasUsed: numberToHex(TRANSFER_GAS), effectiveGasPrice: numberToHex(maxFeePerGas) };
  return { transactionHash: hash, ...inBlock, ...cost, status: '0x1', logs: [] };
}

/**
 * Returns the answer of an RPC node with a pool that it shares with no other node. @param answer
 * the true one
 */
async function unrelayed({ chain, held }: Liar, { method, params }: Call, answer: unknown): Promise<unknown> {
  const [first] = params.map(String);
  if (method === SEND) {
    const { hash } = await chain.read(first as Hex);
    held.add(hash);
    return hash;
  }
  const waiting = [...held].flatMap((hash) => chain.shown.get(hash as Hex) ?? []);
  if (method === 'eth_getTransactionByHash') {
    const own = waiting.find(({ hash }) => hash === first);
    return answer ?? (own === undefined ? null : transactionJson(own, null));
  }
  if (method !== 'eth_getTransactionCount' || params[1] !== 'pending') return answer;
  let count = BigInt(answer as Hex);
  const isUsed = () => waiting.some(({ from, nonce }) => from === first?.toLowerCase() && BigInt(nonce) === count);
  while (isUsed()) count++;
  return numberToHex(count);
}

function dear(method: string, answer: unknown): unknown {
  if (method === 'eth_maxPriorityFeePerGas') return numberToHex(BigInt(answer as string) * DEAR);
  if (method !== 'eth_getBlockByNumber' || answer === null) return answer;
  const block = answer as { readonly baseFeePerGas: string };
  return { ...block, baseFeePerGas: numberToHex(BigInt(block.baseFeePerGas) * DEAR) };
}
