import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import type { Block, ChainTransfer, SimulatedChain } from './chain.ts';
import { CHAIN_ID, pricePaid, Refused, TRANSFER_GAS } from './chain.ts';
import { textSent } from './clocks.ts';
import type { Schedule } from './schedule.ts';

/** Blocks after which nothing is undone any more. */
const FINAL_DEPTH = 10;
const TIP = 10n ** 9n;

interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** JSON-RPC of one node of the chain, which may be some blocks behind, ill, or away. */
export class ChainNode {
  readonly #schedule: Schedule;
  readonly #chain: SimulatedChain;
  readonly #name: string;
  /** Blocks that it has not seen yet. */
  behind = 0;
  isAway = false;

  constructor(schedule: Schedule, chain: SimulatedChain, name: string) {
    this.#schedule = schedule;
    this.#chain = chain;
    this.#name = name;
  }

  async serve(init: RequestInit): Promise<Response> {
    const asked = JSON.parse(textSent(init)) as Asked & { readonly id: number };
    const answered = this.#schedule.call(`${this.#name}.${asked.method}`, () => this.#answer(asked));
    const given = new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
    return Promise.race([answered, given]);
  }

  async #answer(asked: Asked & { readonly id: number }): Promise<Response> {
    if (this.isAway) return new Response('upstream is away', { status: 502 });
    // An ill node has its words after the fact as well as before it.
    const illness = this.#schedule.isLuck(this.#schedule.weather.lost) ? this.#schedule.upTo(3) : null;
    if (illness === 0) return new Response('<html>', { status: 200 });
    const [id, jsonrpc] = [asked.id, '2.0'];
    try {
      const result = await this.#result(asked);
      if (illness === 1) return new Response('', { status: 500 });
      if (illness === 2) return Response.json({ id, jsonrpc, error: { code: -32603, message: 'internal error' } });
      return Response.json({ id, jsonrpc, result });
    } catch (error) {
      if (error instanceof Refused) {
        return Response.json({ id, jsonrpc, error: { code: -32000, message: error.message } });
      }
      throw error;
    }
  }

  get #head(): Block {
    const { blocks, head } = this.#chain;
    return blocks[Math.max(0, head.number - this.behind)] ?? head;
  }

  async #result({ method, params }: Asked): Promise<unknown> {
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
        return numberToHex(this.#nonce(first ?? '', second ?? ''));
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
    const number = tag === 'finalized' ? Math.max(0, this.#head.number - FINAL_DEPTH) : Number.parseInt(tag, 16);
    return number > this.#head.number ? null : (this.#chain.blocks[number] ?? null);
  }

  #block(tag: string, isWhole: boolean): unknown {
    const block = this.#at(tag);
    if (block === null) return null;
    const transactions = block.transfers.map((one) => (isWhole ? shown(one, block) : one.hash));
    return {
      number: numberToHex(block.number),
      hash: block.hash,
      baseFeePerGas: numberToHex(block.baseFeePerGas),
      transactions,
    };
  }

  #nonce(address: string, tag: string): number {
    if (tag === 'pending' && this.behind === 0) return this.#chain.pendingNonce(address);
    const block = this.#at(tag);
    if (block === null) throw new Refused('header not found');
    return this.#chain.account(address, block).nonce;
  }

  #transaction(hash: string): unknown {
    const mined = this.#chain.mined(hash, this.#head.number);
    if (mined !== null) return shown(mined.transfer, mined.block);
    const waiting = this.#chain.inPool(hash);
    return waiting === null ? null : shown(waiting, null);
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

function shown(transfer: ChainTransfer, block: Block | null) {
  const { hash, from, to, value, gasLimit } = transfer;
  const place = block === null ? { blockHash: null, blockNumber: null } : { blockHash: block.hash };
  return { hash, from, to, value: numberToHex(value), gas: numberToHex(gasLimit), input: '0x', ...place };
}
