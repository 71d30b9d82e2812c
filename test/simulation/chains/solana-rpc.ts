import type { Address } from '@solana/kit';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import type { Entry, ChainView } from '#local/solana/rpc.ts';
import { answerRpc } from '#local/solana/rpc.ts';
import type { ChainApi, Query } from './chain.ts';
import type { Block, Landed, SolanaChain } from './solana-chain.ts';
import { BLOCKHASH_SLOTS, FINAL_BLOCKS } from './solana-chain.ts';
import { lyingView } from './solana-lies.ts';
import { carryOut, heldBy, rentOf } from './solana-machine.ts';
import { MINT } from './solana-tokens.ts';

/** The number of compute units of a payment. */
const UNITS = 450n;

/** The JSON-RPC interface of a Solana RPC node. */
export class SolanaRpc implements ChainApi {
  readonly #chain: SolanaChain;

  constructor(chain: SolanaChain) {
    this.#chain = chain;
  }

  methodOf({ sent }: Query): string {
    return (JSON.parse(sent ?? '') as { method: string }).method;
  }

  async answer({ sent, behind, isForgetful, lie, held }: Query): Promise<Response> {
    const view = new View(this.#chain, { behind, isForgetful });
    return new Response(
      answerRpc(lie === null ? view : lyingView({ chain: this.#chain, held }, lie, view), sent ?? ''),
    );
  }

  complaint({ sent }: Query): Response {
    const { id } = JSON.parse(sent ?? '') as { id: number };
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32005, message: 'Node is unhealthy' } });
  }
}

/**
 * The cluster as one RPC node sees it: its newest block has no votes yet, and a block that is deep
 * enough is rooted.
 */
class View implements ChainView {
  readonly #chain: SolanaChain;
  readonly #isForgetful: boolean;
  /** The blocks that the RPC node has, oldest first. */
  readonly #blocks: readonly Block[];

  constructor(chain: SolanaChain, { behind, isForgetful }: Pick<Query, 'behind' | 'isForgetful'>) {
    this.#chain = chain;
    this.#isForgetful = isForgetful;
    this.#blocks = chain.blocks.slice(0, Math.max(1, chain.blocks.length - behind));
  }

  /** Returns the block this many blocks below the newest one. */
  #under(blocks: number): Block {
    const block = this.#blocks[Math.max(0, this.#blocks.length - 1 - blocks)];
    if (block === undefined) throw new Error('a chain has a first block');
    return block;
  }

  get slot(): bigint {
    return this.#under(1).slot;
  }

  get finalizedSlot(): bigint {
    return this.#under(FINAL_BLOCKS).slot;
  }

  get price(): bigint {
    return this.#chain.price;
  }

  latestBlockhash(): { readonly blockhash: string; readonly lastHeight: bigint } {
    const { hash, slot } = this.#under(1);
    return { blockhash: hash, lastHeight: slot + BLOCKHASH_SLOTS };
  }

  rent(bytes: bigint): bigint {
    return rentOf(bytes);
  }

  account(at: Address, slot: bigint): Account | null {
    const block = this.#blocks.findLast((one) => one.slot <= slot);
    const { lamports, data, owner = SYSTEM_PROGRAM_ADDRESS } = heldBy(block?.state ?? new Map(), at);
    return lamports === 0n ? null : { lamports, data, owner, isExecutable: false };
  }

  tokenAccounts(owner: Address): readonly { readonly address: Address; readonly mint: Address }[] {
    const at = tokenAccountOf(owner, MINT, TOKEN_2022);
    return this.account(at, this.slot) === null ? [] : [{ address: at, mint: MINT }];
  }

  entry(hash: string): Entry | null {
    return this.#isForgetful ? null : (this.#landed.find((one) => one.hash === hash) ?? null);
  }

  naming(at: Address): readonly Entry[] {
    const { slot } = this;
    return this.#landed.filter((one) => one.slot <= slot && one.accounts.includes(at)).toReversed();
  }

  get #landed(): readonly Landed[] {
    return this.#blocks.flatMap(({ landed }) => landed);
  }

  blockhashOf(slot: bigint): string | null {
    return this.#blocks.find((block) => block.slot === slot)?.hash ?? null;
  }

  hashesIn(slot: bigint): readonly string[] {
    return this.#landed.filter((one) => one.slot === slot).map(({ hash }) => hash);
  }

  simulate(wire: Uint8Array) {
    const { hash, state } = this.#under(1);
    const message = getCompiledTransactionMessageDecoder().decode(getTransactionDecoder().decode(wire).messageBytes);
    if (message.version !== 0) throw new Error('the simulation sends no legacy messages');
    return { error: carryOut(state, message, hash).error, logs: [], units: UNITS };
  }

  send(wire: Uint8Array): Pick<Entry, 'hash'> | 'signature' {
    const hash = this.#chain.send(wire);
    return hash === null ? 'signature' : { hash };
  }

  airdrop(to: Address, amount: bigint): Pick<Entry, 'hash'> {
    return { hash: this.#chain.deposit(to, amount) };
  }
}
