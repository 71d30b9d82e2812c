import { verify } from 'node:crypto';
import type { Address } from '@solana/kit';
import {
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit';
import { bytesOf, isPublicKey, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import { durableNonce } from '#local/solana/durable-nonce.ts';
import type { Entry, Snapshot } from '#local/solana/rpc.ts';
import { hashOf } from '#local/solana/rpc.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import type { Moved, Payment, SimulatedChain } from './chain.ts';
import { ed25519Key } from '../../mpc/ed25519-key.ts';
import type { Schedule } from '../schedule.ts';
import { CALM } from '../schedule.ts';
import type { Held, Message, Sent, State } from './solana-machine.ts';
import { carryOut, give, heldBy, nonceAccountIn, nonceOf, priceOf } from './solana-machine.ts';
import { credit, MINT, mintHeld, tokenIn, unitsOf } from './solana-tokens.ts';

const SOL = 1_000_000_000n;
/** The number of slots in a simulated block; a slot takes 400 ms. */
const SLOTS_PER_BLOCK = 10n;
/** The number of slots for which a blockhash is valid. */
export const BLOCKHASH_SLOTS = 150n;
/** The number of newer blocks from which a block is beyond every fork. */
export const FINAL_BLOCKS = 4;
const MAX_PER_BLOCK = 3;
/** The lowest and the highest price, in millionths of a lamport per compute unit. */
const [CHEAPEST, DEAREST] = [10_000n, 3_000_000n];
/** The tokens that a new wallet gets, more than its payments need. */
const ENDOWED_UNITS = 10n ** 12n;

/**
 * An entry that waits for a leader: a signed transaction, or a gift, which needs no signature in
 * the simulation.
 */
type Waiting =
  | { readonly hash: string; readonly signer: Address; readonly message: Message }
  | { readonly hash: string; readonly signer: Address; readonly gift: Sent };

/** An entry of a block, with the waiting entry that it came from and the payments that it made. */
export interface Landed extends Entry {
  readonly waited: Waiting;
  readonly paid: readonly Payment[];
}

export interface Block {
  readonly slot: bigint;
  readonly hash: Address;
  readonly state: State;
  readonly landed: readonly Landed[];
}

/**
 * A Solana cluster that supports only payments, with the network's rules against double execution:
 * blockhashes that are valid for 150 slots, durable nonces, and the creation of the accounts that
 * hold them. Its forks can undo blocks that two thirds of the votes confirmed, which has never
 * happened on the real network. @see solana-machine.ts
 */
export class SolanaChain implements SimulatedChain {
  readonly row = {
    name: 'solana-local',
    caip2: `solana:${LOCAL_CLUSTER}`,
    family: 'solana' as const,
    confirmations: 32,
    pollIntervalMs: 2_000,
  };
  readonly recipients = [2n, 3n].map((key) => addressOf(ED25519.encodePoint(ED25519.generator.multiply(key))));
  readonly unit = 10_000_000n;
  readonly token = MINT;
  readonly dust = 1n;
  readonly deepestFork = FINAL_BLOCKS - 1;
  readonly blocks: Block[];
  readonly #schedule: Schedule;
  readonly #faucet = addressOf(ED25519.encodePoint(ED25519.generator));
  readonly #waiting = new Map<string, Waiting>();
  readonly #handedIn = new Map<string, Message>();
  /** The minimum price for the next block. */
  #price = CHEAPEST;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    const state = new Map<Address, Held>([
      [this.#faucet, { lamports: 1_000_000n * SOL, data: new Uint8Array() }],
      [MINT, mintHeld()],
    ]);
    this.blocks = [{ slot: 1n, hash: this.#newBlockhash(), state, landed: [] }];
  }

  get #head(): Block {
    const head = this.blocks.at(-1);
    if (head === undefined) throw new Error('a chain has a first block');
    return head;
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  get finalNumber(): bigint {
    return this.blocks[Math.max(0, this.height - FINAL_BLOCKS)]?.slot ?? 0n;
  }

  get price(): bigint {
    return this.#price;
  }

  /** The vault's wallet; null before it exists. */
  wallet: Address | null = null;

  endow(wallet: string): void {
    this.wallet = walletOf(wallet);
    this.deposit(wallet, 10n * SOL);
    this.deposit(wallet, ENDOWED_UNITS, MINT);
    // Buries the funds deeper than any reorganisation reaches.
    for (let i = 0; i <= FINAL_BLOCKS; i++) this.mine();
  }

  deposit(to: string, amount: bigint, token: string | null = null): string {
    const hash = getBase58Decoder().decode(this.#randomBytes(64));
    const gift = { from: this.#faucet, to: walletOf(to), amount, ...(token === null ? {} : { token: MINT }) };
    this.#waiting.set(hash, { hash, signer: this.#faucet, gift });
    return hash;
  }

  /**
   * Accepts any transaction with a valid signature, as an RPC node forwards it. Returns its hash;
   * null for a wrong signature.
   */
  send(wire: Uint8Array): string | null {
    const read = this.read(wire);
    if (read !== null) this.#waiting.set(read.hash, read);
    return read?.hash ?? null;
  }

  /** Returns a signed transaction, which no leader gets; null for a wrong signature. */
  read(wire: Uint8Array): Waiting | null {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    const [[signer, signature] = []] = Object.entries(signatures);
    if (signer === undefined || signature == null || message.version !== 0) return null;
    const [payer] = message.staticAccounts;
    if (payer === undefined || payer !== signer) return null;
    if (!verify(null, Uint8Array.from(messageBytes), ed25519Key(bytesOf(payer)), Uint8Array.from(signature)))
      return null;
    const hash = hashOf({ signatures });
    this.#handedIn.set(hash, message);
    return { hash, signer: payer, message };
  }

  /**
   * Returns a sent transaction as a block would hold it if it had been executed without a transfer;
   * null for an unknown hash.
   */
  handedIn(hash: string): Entry | null {
    const message = this.#handedIn.get(hash);
    if (message === undefined) return null;
    const accounts = message.staticAccounts;
    const snapshots = accounts.map((at) => snapshotOf(this.#head.state, at));
    const { fee } = priceOf(message);
    const lifetime = message.lifetimeToken;
    return { hash, slot: 0n, error: null, fee, accounts, before: snapshots, after: snapshots, logs: [], lifetime };
  }

  mine(): void {
    const step = this.#schedule.weather === CALM ? 80n : 60n + BigInt(this.#schedule.upTo(90));
    const requested = (this.#price * step) / 100n;
    this.#price = requested < CHEAPEST ? CHEAPEST : requested > DEAREST ? DEAREST : requested;
    const { slot } = this.#head;
    let { state } = this.#head;
    const landed: Landed[] = [];
    for (const one of this.#waiting.values()) {
      if (this.#isOver(one, state)) this.#waiting.delete(one.hash);
      else if (landed.length < MAX_PER_BLOCK && this.#isTaken(one, state)) {
        const next = this.#enter(one, state);
        landed.push(next.landed);
        state = next.state;
        this.#waiting.delete(one.hash);
      }
    }
    this.blocks.push({ slot: slot + SLOTS_PER_BLOCK, hash: this.#newBlockhash(), state, landed });
  }

  /**
   * Reports whether the entry can no longer be executed. A leader drops such an entry without a
   * trace.
   */
  #isOver(one: Waiting, state: State): boolean {
    if (!('message' in one)) return false;
    const { hash, signer, message } = one;
    if (this.blocks.some(({ landed }) => landed.some((before) => before.hash === hash))) return true;
    if (heldBy(state, signer).lamports < priceOf(message).fee) return true;
    const anchor = nonceAccountIn(message);
    if (anchor !== null) {
      const nonce = nonceOf(state, anchor);
      return nonce?.authority !== signer || nonce.value !== message.lifetimeToken;
    }
    const newest = this.#head.slot + SLOTS_PER_BLOCK;
    return !this.blocks.some((block) => block.hash === message.lifetimeToken && block.slot + BLOCKHASH_SLOTS >= newest);
  }

  #isTaken(one: Waiting, state: State): boolean {
    if (!('message' in one)) return true;
    if (priceOf(one.message).price < this.#price) return false;
    const anchor = nonceAccountIn(one.message);
    // A durable nonce advances at most once in a block.
    return anchor === null || nonceOf(state, anchor)?.value !== durableNonce(this.#head.hash);
  }

  #enter(waited: Waiting, before: State): { readonly state: State; readonly landed: Landed } {
    const { slot, hash: blockhash } = this.#head;
    const { hash, signer } = waited;
    const isMessage = 'message' in waited;
    const { state, error, sent } = isMessage ? carryOut(before, waited.message, blockhash) : given(before, waited.gift);
    const accounts = isMessage ? waited.message.staticAccounts : [signer, creditedBy(waited.gift)];
    const snapshots = (of: State) => accounts.map((at) => snapshotOf(of, at));
    // Deposits of a wallet into its own nonce accounts, and transfers to itself, are not payments.
    const paid = sent.filter(({ from, to }) => from !== to && nonceOf(state, to) === null);
    const landed = {
      hash,
      slot: slot + SLOTS_PER_BLOCK,
      error,
      fee: isMessage ? priceOf(waited.message).fee : 0n,
      accounts,
      before: snapshots(before),
      after: snapshots(state),
      logs: [],
      lifetime: isMessage ? waited.message.lifetimeToken : blockhash,
      waited,
      paid: paid.map(({ to, amount, token = null }) => ({ hash, to, amount, token })),
    };
    return { state, landed };
  }

  reorganise(depth: number, forgotten: number): void {
    const undone = this.blocks.splice(Math.max(1, this.blocks.length - depth));
    this.#schedule.note(`${undone.length} blocks of Solana undone`);
    const before = this.height + undone.length;
    for (const { waited } of undone.flatMap(({ landed }) => landed)) {
      // A reorganisation does not lose payments of others: they pay again.
      if (!('message' in waited) || !this.#schedule.isLuck(forgotten)) this.#waiting.set(waited.hash, waited);
    }
    while (this.height < before) this.mine();
  }

  forget(share: number): void {
    for (const one of this.#waiting.values()) {
      if ('message' in one && this.#schedule.isLuck(share)) this.#waiting.delete(one.hash);
    }
  }

  balance(address: string, token: string | null = null): bigint {
    const { state } = this.#head;
    return token === null ? heldBy(state, walletOf(address)).lamports : unitsOf(state, walletOf(address));
  }

  nonce(): null {
    return null;
  }

  movedBy(hash: string, wallet: string): Moved | null {
    const entry = this.blocks.flatMap(({ landed }) => landed).find((one) => one.hash === hash);
    if (entry === undefined) return null;
    const { accounts, before, after, fee, waited } = entry;
    const at = accounts.findIndex((one) => one === wallet);
    const net = (after[at]?.lamports ?? 0n) - (before[at]?.lamports ?? 0n);
    const units = (of: Landed['before']) =>
      of.reduce((sum, { token }) => (token?.owner === wallet ? sum + token.units : sum), 0n);
    const tokens = units(after) - units(before);
    return { fee, net: waited.signer === wallet ? net + fee : net, tokens };
  }

  paymentsFrom(address: string, height: number): readonly Payment[] {
    return this.blocks
      .slice(height)
      .flatMap(({ landed }) => landed)
      .filter(({ waited }) => waited.signer === address)
      .flatMap(({ paid }) => paid);
  }

  /** No RPC node shows a transaction before a block has it. */
  shows(hash: string): boolean {
    return this.blocks.some(({ landed }) => landed.some((one) => one.hash === hash));
  }

  forged(number: number): string {
    return getBase58Decoder().decode(new Uint8Array(64).fill(200 + number));
  }

  #newBlockhash(): Address {
    return addressOf(this.#randomBytes(32));
  }

  #randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#schedule.upTo(256));
  }
}

function given(before: State, gift: Sent) {
  const state = new Map(before);
  if (gift.token === undefined) return { state, error: null, sent: [give(state, gift)] };
  credit(state, gift.to, gift.amount);
  return { state, error: null, sent: [gift] };
}

/** Returns the account that a gift of others changes. */
function creditedBy({ to, token }: Sent): Address {
  return token === undefined ? to : tokenAccountOf(to, MINT, TOKEN_2022);
}

function snapshotOf(state: State, at: Address): Snapshot {
  const { lamports } = heldBy(state, at);
  const token = tokenIn(state, at);
  return { lamports, token: token === null ? null : { ...token, decimals: 6 } };
}

function walletOf(text: string): Address {
  if (!isPublicKey(text)) throw new Error('no address of Solana');
  return text;
}

function addressOf(publicKey: Uint8Array): Address {
  return getAddressDecoder().decode(publicKey);
}
