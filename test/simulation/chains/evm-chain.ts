import { keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import type { Moved, Payment, SimulatedChain } from './chain.ts';
import type { Schedule } from '../schedule.ts';
import { CALM } from '../schedule.ts';

/** The state of an account on the chain. */
interface Account {
  readonly balance: bigint;
  readonly nonce: number;
}

export interface ChainTransfer {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface Block {
  readonly number: number;
  readonly hash: Hex;
  readonly parent: Hex;
  readonly baseFeePerGas: bigint;
  readonly accounts: ReadonlyMap<Hex, Account>;
  readonly transfers: readonly ChainTransfer[];
}

export const CHAIN_ID = 31_337_001;
/**
 * The depth from which no block is undone: more than a service that only counts confirmations waits
 * for.
 */
const FINAL_DEPTH = 20;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
export const TRANSFER_GAS = 21_000n;
const NO_ONE: Account = { balance: 0n, nonce: 0 };
/** The account from which others pay. */
const RICH = `0x${'e'.repeat(40)}` as const;
const MAX_PER_BLOCK = 3;

/** A refusal of the RPC node, with an error message of geth. */
export class Refused extends Error {}

/**
 * A small EVM chain that supports only payments, with geth's rules for its pool: nonces in order,
 * replacements at a price at least a tenth higher, and no spending above the balance. Blocks can be
 * undone, and waiting transactions can be lost.
 */
export class EvmChain implements SimulatedChain {
  readonly row = {
    name: 'simulated',
    caip2: `eip155:${CHAIN_ID}`,
    family: 'evm' as const,
    nativeSymbol: 'ETH',
    nativeDecimals: 18,
    confirmations: 3,
    pollIntervalMs: 2_000,
    maxFee: '50000000000000000',
    explorer: null,
  };
  readonly recipients = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
  readonly unit = 1_000_000_000_000n;
  readonly dust = 1n;
  readonly deepestFork = 7;
  readonly #schedule: Schedule;
  readonly #pool = new Map<Hex, ChainTransfer>();
  readonly blocks: Block[];
  /** Every signed transaction that was ever sent to this chain. */
  readonly shown = new Map<Hex, ChainTransfer>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    const accounts = new Map([[RICH, { balance: 1_000_000n * ETHER, nonce: 0 }]] as const);
    this.blocks = [
      { number: 0, hash: this.#newHash(), parent: `0x${'0'.repeat(64)}`, baseFeePerGas: GWEI, accounts, transfers: [] },
    ];
  }

  get head(): Block {
    const head = this.blocks.at(-1);
    if (head === undefined) throw new Error('a chain has a first block');
    return head;
  }

  get height(): number {
    return this.head.number;
  }

  get finalNumber(): bigint {
    return BigInt(this.finalUnder(this.height));
  }

  /** Returns the height of the final block for an RPC node with this head. */
  finalUnder(height: number): number {
    return Math.max(0, height - FINAL_DEPTH);
  }

  balance(address: string): bigint {
    return this.account(address).balance;
  }

  nonce(address: string): bigint {
    return BigInt(this.account(address).nonce);
  }

  /** Excludes cancellations: they pay zero to the address itself. */
  paymentsFrom(address: string, height: number): readonly Payment[] {
    const payer = addressOf(address);
    return this.blocks
      .slice(height)
      .flatMap(({ transfers }) => transfers)
      .filter(({ from, to, value }) => from === payer && !(to === payer && value === 0n))
      .map(({ hash, to, value }) => ({ hash, to, amount: value }));
  }

  movedBy(hash: string, wallet: string): Moved | null {
    const mined = this.mined(hash, this.height);
    if (mined === null) return null;
    const { transfer, block } = mined;
    const own = addressOf(wallet);
    const net = (transfer.to === own ? transfer.value : 0n) - (transfer.from === own ? transfer.value : 0n);
    return { fee: TRANSFER_GAS * pricePaid(transfer, block.baseFeePerGas), net };
  }

  shows(hash: string): boolean {
    return this.inPool(hash) !== null || this.mined(hash, this.height) !== null;
  }

  forged(number: number): string {
    return `0x${'f'.repeat(63)}${number}`;
  }

  endow(wallet: string): void {
    this.deposit(wallet, 10n * ETHER);
    this.mine();
  }

  account(address: string, block: Block = this.head): Account {
    return block.accounts.get(addressOf(address)) ?? NO_ONE;
  }

  /** Returns the next nonce of an account after its transactions that wait in the pool. */
  pendingNonce(address: string): number {
    let { nonce } = this.account(address);
    while (this.#waiting(addressOf(address), nonce) !== undefined) nonce++;
    return nonce;
  }

  /** Returns the mined transfer with this hash and its block; null when no block has it. */
  mined(hash: string, upTo: number): { readonly block: Block; readonly transfer: ChainTransfer } | null {
    for (const block of this.blocks) {
      const transfer = block.number <= upTo ? block.transfers.find((one) => one.hash === hash) : undefined;
      if (transfer !== undefined) return { block, transfer };
    }
    return null;
  }

  inPool(hash: string): ChainTransfer | null {
    return [...this.#pool.values()].find((one) => one.hash === hash) ?? null;
  }

  /** Adds a signed transaction to the pool. Throws `Refused`. */
  async send(raw: Hex): Promise<Hex> {
    const transfer = await this.read(raw);
    this.#enter(transfer);
    return transfer.hash;
  }

  /** Returns a signed transaction, which is not yet in the pool. Throws `Refused`. */
  async read(raw: Hex): Promise<ChainTransfer> {
    const parsed = parseTransaction(raw);
    if (parsed.type !== 'eip1559' || parsed.chainId !== CHAIN_ID) throw new Refused('invalid chain id for signer');
    const from = addressOf(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` }));
    const transfer: ChainTransfer = {
      hash: keccak256(raw),
      from,
      to: addressOf(parsed.to ?? ''),
      value: parsed.value ?? 0n,
      nonce: parsed.nonce ?? 0,
      gasLimit: parsed.gas ?? 0n,
      maxFeePerGas: parsed.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
    };
    this.shown.set(transfer.hash, transfer);
    return transfer;
  }

  #enter(transfer: ChainTransfer): void {
    const { balance, nonce } = this.account(transfer.from);
    if (this.#pool.has(transfer.hash)) throw new Refused('already known');
    if (transfer.nonce < nonce) throw new Refused('nonce too low');
    if (transfer.gasLimit < TRANSFER_GAS) throw new Refused('intrinsic gas too low');
    if (balance < transfer.value + transfer.gasLimit * transfer.maxFeePerGas) {
      throw new Refused('insufficient funds for gas * price + value');
    }
    const before = this.#waiting(transfer.from, transfer.nonce);
    if (before !== undefined) {
      const isEnough = (now: bigint, then: bigint) => now * 100n >= then * 110n;
      if (
        !isEnough(transfer.maxFeePerGas, before.maxFeePerGas) ||
        !isEnough(transfer.maxPriorityFeePerGas, before.maxPriorityFeePerGas)
      ) {
        throw new Refused('replacement transaction underpriced');
      }
      this.#pool.delete(before.hash);
    }
    this.#pool.set(transfer.hash, transfer);
  }

  #waiting(from: Hex, nonce: number): ChainTransfer | undefined {
    return [...this.#pool.values()].find((one) => one.from === from && one.nonce === nonce);
  }

  deposit(to: string, value: bigint): Hex {
    const hash = this.#newHash();
    const fees = { gasLimit: TRANSFER_GAS, maxFeePerGas: 1000n * GWEI, maxPriorityFeePerGas: GWEI };
    let { nonce } = this.account(RICH);
    while (this.#waiting(RICH, nonce) !== undefined) nonce++;
    this.#enter({ hash, from: RICH, to: addressOf(to), value, nonce, ...fees });
    return hash;
  }

  mine(): void {
    const { head } = this;
    // In calm weather the base fee falls, so that transactions that offered too little are mined in
    // the end.
    const step = this.#schedule.weather === CALM ? 88n : 80n + BigInt(this.#schedule.upTo(50));
    const requested = (head.baseFeePerGas * step) / 100n;
    const baseFeePerGas = requested < GWEI / 10n ? GWEI / 10n : requested > 40n * GWEI ? 40n * GWEI : requested;
    const accounts = new Map(head.accounts);
    const transfers: ChainTransfer[] = [];
    while (transfers.length < MAX_PER_BLOCK) {
      const next = [...this.#pool.values()].find(
        (one) => (accounts.get(one.from) ?? NO_ONE).nonce === one.nonce && one.maxFeePerGas >= baseFeePerGas,
      );
      if (next === undefined) break;
      this.#pool.delete(next.hash);
      const payer = accounts.get(next.from) ?? NO_ONE;
      const cost = next.value + TRANSFER_GAS * pricePaid(next, baseFeePerGas);
      if (payer.balance < cost) continue;
      accounts.set(next.from, { balance: payer.balance - cost, nonce: payer.nonce + 1 });
      const payee = accounts.get(next.to) ?? NO_ONE;
      accounts.set(next.to, { ...payee, balance: payee.balance + next.value });
      transfers.push(next);
    }
    const block = {
      number: head.number + 1,
      hash: this.#newHash(),
      parent: head.hash,
      baseFeePerGas,
      accounts,
      transfers,
    };
    this.blocks.push(block);
    // Removes pool transactions whose nonce is used.
    for (const one of this.#pool.values()) if (one.nonce < this.account(one.from).nonce) this.#pool.delete(one.hash);
  }

  reorganise(depth: number, forgotten: number): void {
    const undone = this.blocks.splice(Math.max(1, this.blocks.length - depth));
    this.#schedule.note(`${undone.length} blocks undone`);
    for (const transfer of undone.flatMap(({ transfers }) => transfers)) {
      // A reorganisation does not lose payments of others: they pay again.
      if (transfer.from !== RICH && this.#schedule.isLuck(forgotten)) continue;
      this.#pool.set(transfer.hash, transfer);
    }
    // The new branch has the same length, so that the height never falls.
    for (let i = 0; i < undone.length; i++) this.mine();
  }

  forget(share: number): void {
    for (const { hash, from } of this.#pool.values()) {
      if (from !== RICH && this.#schedule.isLuck(share)) this.#pool.delete(hash);
    }
  }

  #newHash(): Hex {
    return `0x${Array.from({ length: 64 }, () => this.#schedule.upTo(16).toString(16)).join('')}`;
  }
}

/** Returns the price that a transfer pays, in wei per gas. */
export function pricePaid({ maxFeePerGas, maxPriorityFeePerGas }: ChainTransfer, baseFeePerGas: bigint): bigint {
  const highest = baseFeePerGas + maxPriorityFeePerGas;
  return highest < maxFeePerGas ? highest : maxFeePerGas;
}

function addressOf(text: string): Hex {
  return text.toLowerCase() as Hex;
}

/** Returns a transaction as RPC nodes state it; null without a block while it waits. */
export function transactionJson(transfer: ChainTransfer, block: Block | null) {
  const { hash, from, to, value, gasLimit, nonce } = transfer;
  const position = block === null ? { blockHash: null, blockNumber: null } : { blockHash: block.hash };
  return {
    hash,
    from,
    to,
    value: numberToHex(value),
    gas: numberToHex(gasLimit),
    nonce: numberToHex(nonce),
    input: '0x',
    ...position,
  };
}
