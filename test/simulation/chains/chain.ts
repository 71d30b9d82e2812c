import type { ChainFamily } from '#domain/asset/chain.ts';
import type { FalseAnswer } from './lies.ts';

/** A payment of one address to another one, as it stands in a block. */
export interface Payment {
  readonly hash: string;
  readonly to: string;
  /** In the smallest units. */
  readonly amount: bigint;
}

/** A request to an RPC node, with the faults of the node. */
export interface Query {
  /** Of the URL, without the host. */
  readonly path: string;
  /** The body of a POST; null for a GET. */
  readonly sent: string | null;
  /** Blocks that the node does not have yet. */
  readonly behind: number;
  /** The node has the state of the chain, and finds no transaction by its hash. */
  readonly isForgetful: boolean;
  /**
   * What it adds to counts of an account's transactions; 0 for an honest node.
   */
  readonly miscount: number;
  /** The lie of the node; null for an honest one. */
  readonly lie: FalseAnswer | null;
}

/**
 * A chain as the parties outside the service see it: other payers, miners, and the judge at the
 * end.
 */
export interface SimulatedChain {
  /** As CHAINS has it. */
  readonly row: { readonly name: string; readonly caip2: string; readonly family: ChainFamily };
  /** The recipients of the payments of the people. */
  readonly recipients: readonly string[];
  /** Payments are some of these and a little more, in the smallest units. */
  readonly unit: bigint;
  /** So many blocks can be undone, and never one more. */
  readonly deepestFork: number;
  /** Of the newest block. */
  readonly height: number;
  /** The newest block that the network calls final, by the number that RPC nodes report. */
  readonly finalNumber: bigint;
  /** What a wallet begins with. */
  endow(wallet: string): void;
  /** Makes an outside payer pay, and pay again after a reorganisation. Returns the hash. */
  deposit(to: string, amount: bigint): string;
  /** One block more, of what waits and pays enough. */
  mine(): void;
  /**
   * Replaces the newest blocks by as many others. The transactions of the old ones wait again,
   * except for a share that is lost.
   */
  reorganise(depth: number, forgotten: number): void;
  /** Removes this share of the waiting transactions from the pool. */
  forget(share: number): void;
  /** In blocks. */
  balance(address: string): bigint;
  /** Transactions of an account in blocks; null on a chain that does not count them. */
  nonce(address: string): bigint | null;
  /** Whatever left this address for another one, in blocks from a height on, oldest first. */
  paymentsFrom(address: string, height: number): readonly Payment[];
  /** The hash of a transaction that there never was. */
  forged(number: number): string;
}

/** The RPC interface of a chain. */
export interface ChainApi {
  /** For the trace. */
  methodOf(query: Query): string;
  /** As one node answers. */
  answer(query: Query): Promise<Response>;
  /** What an ill node says in place of it. */
  complaint(query: Query): Response;
}
