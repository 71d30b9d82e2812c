import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import type { ChainApi, Query } from './chain.ts';
import { lyingResult } from './evm-lies.ts';
import type { Block, EvmChain } from './evm-chain.ts';
import { CHAIN_ID, pricePaid, Refused, TRANSFER_GAS, transactionJson } from './evm-chain.ts';

const TIP = 10n ** 9n;
const GENESIS_SECONDS = 1_700_000_000;
const BLOCK_SECONDS = 12;

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const JSONRPC = '2.0';
/** The methods to which an RPC node without transaction history answers null. */
const HISTORY = new Set(['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockReceipts']);

/** The JSON-RPC interface of an EVM RPC node. */
export class EvmRpc implements ChainApi {
  readonly #chain: EvmChain;

  constructor(chain: EvmChain) {
    this.#chain = chain;
  }

  methodOf({ sent }: Query): string {
    return requestIn(sent).method;
  }

  async answer({ sent, behind, miscount, isForgetful, lie, held }: Query): Promise<Response> {
    const { id, method, params } = requestIn(sent);
    if (isForgetful && HISTORY.has(method)) return Response.json({ id, jsonrpc: JSONRPC, result: null });
    try {
      const view = new View(this.#chain, { behind, miscount });
      const honest = (question: Pick<RpcRequest, 'method' | 'params'>) => view.result(question.method, question.params);
      const question = { method, params };
      const liar = { chain: this.#chain, held };
      const result = lie === null ? await honest(question) : await lyingResult(liar, lie, question, honest);
      return Response.json({ id, jsonrpc: JSONRPC, result });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return Response.json({ id, jsonrpc: JSONRPC, error: { code: -32000, message: error.message } });
    }
  }

  complaint({ sent }: Query): Response {
    return Response.json({
      id: requestIn(sent).id,
      jsonrpc: JSONRPC,
      error: { code: -32603, message: 'internal error' },
    });
  }
}

function requestIn(sent: string | null): RpcRequest {
  return JSON.parse(sent ?? '') as RpcRequest;
}

/** The chain as one RPC node sees it. */
class View {
  readonly #chain: EvmChain;
  readonly #behind: number;
  readonly #miscount: number;

  constructor(chain: EvmChain, { behind, miscount }: Pick<Query, 'behind' | 'miscount'>) {
    this.#chain = chain;
    this.#behind = behind;
    this.#miscount = miscount;
  }

  get #head(): Block {
    const { blocks, head } = this.#chain;
    return blocks[Math.max(0, head.number - this.#behind)] ?? head;
  }

  async result(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first, second] = params.map(String);
    switch (method) {
      case 'eth_chainId':
        return numberToHex(CHAIN_ID);
      case 'eth_maxPriorityFeePerGas':
        return numberToHex(TIP);
      case 'eth_feeHistory':
        return { reward: Array.from({ length: 10 }, () => [TIP / 2n, TIP, 2n * TIP].map((tip) => numberToHex(tip))) };
      case 'eth_getBlockByNumber':
        return this.#block(first ?? '', params[1] === true);
      case 'eth_getTransactionCount':
        return numberToHex(this.#miscounted(this.#nonce(first ?? '', second ?? ''), second ?? ''));
      case 'eth_getBalance':
        return numberToHex(this.#chain.account(first ?? '', this.#at(second ?? '') ?? this.#head).balance);
      case 'eth_getCode':
        return '0x';
      case 'eth_getLogs':
        return [];
      case 'eth_call':
      case 'eth_estimateGas': {
        const { from = '', value = '0x0' } = (params[0] ?? {}) as { from?: string; value?: string };
        if (this.#chain.account(from, this.#head).balance < BigInt(value)) {
          throw new Refused('insufficient funds for transfer');
        }
        return method === 'eth_call' ? '0x' : numberToHex(TRANSFER_GAS);
      }
      case 'eth_sendRawTransaction':
        return this.#chain.send(first as Hex);
      case 'eth_getTransactionByHash':
        return this.#transaction(first ?? '');
      case 'eth_getTransactionReceipt':
        return this.#receipt(first ?? '');
      default:
        throw new Refused(`the method ${method} does not exist/is not available`);
    }
  }

  #at(tag: string): Block | null {
    if (tag === 'latest' || tag === 'pending') return this.#head;
    const number = tag === 'finalized' ? this.#chain.finalUnder(this.#head.number) : Number.parseInt(tag, 16);
    return number > this.#head.number ? null : (this.#chain.blocks[number] ?? null);
  }

  #block(tag: string, isWhole: boolean): unknown {
    const block = this.#at(tag);
    if (block === null) return null;
    const transactions = block.transfers.map((one) => (isWhole ? transactionJson(one, block) : one.hash));
    return {
      number: numberToHex(block.number),
      hash: block.hash,
      timestamp: numberToHex(GENESIS_SECONDS + block.number * BLOCK_SECONDS),
      baseFeePerGas: numberToHex(block.baseFeePerGas),
      transactions,
    };
  }

  /**
   * Falsifies a transaction count of the newest state only, because the service checks at an older
   * block whether a nonce is used.
   */
  #miscounted(count: number, tag: string): number {
    return tag === 'latest' || tag === 'pending' ? Math.max(0, count + this.#miscount) : count;
  }

  #nonce(address: string, tag: string): number {
    if (tag === 'pending' && this.#behind === 0) return this.#chain.pendingNonce(address);
    const block = this.#at(tag);
    if (block === null) throw new Refused('header not found');
    return this.#chain.account(address, block).nonce;
  }

  #transaction(hash: string): unknown {
    const mined = this.#chain.mined(hash, this.#head.number);
    if (mined !== null) return transactionJson(mined.transfer, mined.block);
    const waiting = this.#chain.inPool(hash);
    return waiting === null ? null : transactionJson(waiting, null);
  }

  #receipt(hash: string): unknown {
    const mined = this.#chain.mined(hash, this.#head.number);
    if (mined === null) return null;
    const { block, transfer } = mined;
    return {
      transactionHash: hash,
      blockNumber: numberToHex(block.number),
      blockHash: block.hash,
      gasUsed: numberToHex(TRANSFER_GAS),
      effectiveGasPrice: numberToHex(pricePaid(transfer, block.baseFeePerGas)),
      status: '0x1',
      logs: [],
    };
  }
}
