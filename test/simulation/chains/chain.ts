import type { ChainFamily } from '#domain/asset/chain.ts';
import type { FalseAnswer } from './lies.ts';

/** A payment from one address to another, as recorded in a block. */
export interface Payment {
  readonly hash: string;
  readonly to: string;
  /** The amount in the smallest units. */
  readonly amount: bigint;
  /** Null for the native asset, and absent on a chain without tokens. */
  readonly token?: string | null;
}

/** What a transaction moved, in the smallest units. */
export interface Moved {
  readonly fee: bigint;
  /** The change of the wallet's native asset, without the fee. */
  readonly net: bigint;
  /** The change of the wallet's tokens; absent on a chain without tokens. */
  readonly tokens?: bigint;
}

/** A request to an RPC node, with the faults of the node. */
export interface Query {
  /** The path of the URL, without the host. */
  readonly path: string;
  /** The body of a POST; null for a GET. */
  readonly sent: string | null;
  /** The number of newest blocks that the RPC node does not have yet. */
  readonly behind: number;
  /** True when the RPC node has the state of the chain but finds no transaction by its hash. */
  readonly isForgetful: boolean;
  /**
   * The number that the RPC node adds to the transaction count of an account; 0 for an honest one.
   */
  readonly miscount: number;
  /** The false answer that the RPC node gives; null for an honest one. */
  readonly lie: FalseAnswer | null;
  /** The transactions that the RPC node has accepted and not relayed, in the form of its family. */
  readonly held: Set<string>;
}

/**
 * A chain as the parties outside the service use it: other payers, miners, and the final checks.
 */
export interface SimulatedChain {
  /** The chain's row in CHAINS. */
  readonly row: { readonly name: string; readonly caip2: string; readonly family: ChainFamily };
  /** The recipients of the payments of the people. */
  readonly recipients: readonly string[];
  /**
   * The base of payment amounts, in the smallest units: each payment is a multiple of it plus a
   * small remainder.
   */
  readonly unit: bigint;
  /** The smallest deposit that the network relays. */
  readonly dust: bigint;
  /** The token of the chain, a hundredth of which is withheld; absent on a chain without tokens. */
  readonly token?: string;
  /** The maximum number of blocks that a reorganisation undoes. */
  readonly deepestFork: number;
  /** The number of the newest block. */
  readonly height: number;
  /** The newest block that the network calls final, by the number that RPC nodes report. */
  readonly finalNumber: bigint;
  /** Funds a new wallet. */
  endow(wallet: string): void;
  /**
   * Makes an outside payer pay, and pay again after a reorganisation. Returns the transaction hash.
   */
  deposit(to: string, amount: bigint, token?: string | null): string;
  /** Mines one block of waiting transactions that pay enough. */
  mine(): void;
  /**
   * Replaces the newest blocks by the same number of new blocks. The transactions of the old blocks
   * wait again, except for a share that is lost.
   */
  reorganise(depth: number, forgotten: number): void;
  /** Removes this share of the waiting transactions from the pool. */
  forget(share: number): void;
  /** Returns the balance of an address in mined blocks. */
  balance(address: string, token?: string | null): bigint;
  /**
   * Returns the number of mined transactions of an account; null on a chain that does not count
   * them.
   */
  nonce(address: string): bigint | null;
  /** Returns what a mined transaction moved to or from a wallet; null when no block has it. */
  movedBy(hash: string, wallet: string): Moved | null;
  /** Reports whether an honest RPC node shows a transaction, which waits or is in a block. */
  shows(hash: string): boolean;
  /** Returns the payments from this address to others in blocks from a height on, oldest first. */
  paymentsFrom(address: string, height: number): readonly Payment[];
  /** Returns the hash of a transaction that never existed. */
  forged(number: number): string;
}

/** The RPC interface of a chain. */
export interface ChainApi {
  /** Returns the name of the called method, for the trace. */
  methodOf(query: Query): string;
  /** Returns the answer of one RPC node. */
  answer(query: Query): Promise<Response>;
  /** Returns the error of a failing RPC node. */
  complaint(query: Query): Response;
}
