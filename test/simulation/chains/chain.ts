import type { ChainFamily } from '#domain/asset/chain.ts';
import type { FalseAnswer } from './lies.ts';

/** What somebody has paid to somebody else, as it stands in a block. */
export interface Payment {
  readonly hash: string;
  readonly to: string;
  /** In the smallest units. */
  readonly amount: bigint;
}

/** What a node is asked. */
export interface Query {
  /** Of the URL, without the host. */
  readonly path: string;
  /** By POST; null for what is asked by GET. */
  readonly sent: string | null;
  /** Blocks that the node has not seen yet. */
  readonly behind: number;
  /** The node has the state of the chain, and finds no transaction by its hash. */
  readonly isForgetful: boolean;
  /** What it adds to counts of an account's transactions; a node that tells the truth adds nothing. */
  readonly miscount: number;
  /** What it says that is not so; null for a node that tells the truth. */
  readonly lie: FalseAnswer | null;
}

/** A chain as those see it who live beside the service: people outside, miners, and whoever judges at the end. */
export interface SimulatedChain {
  /** As CHAINS has it. */
  readonly row: { readonly name: string; readonly caip2: string; readonly family: ChainFamily };
  /** Who gets what people want to pay. */
  readonly recipients: readonly string[];
  /** Payments are some of these and a little more, in the smallest units. */
  readonly unit: bigint;
  /** So many blocks can be undone, and never one more. */
  readonly deepestFork: number;
  /** Of the newest block. */
  readonly height: number;
  /** The newest block that the network calls final, by the number that nodes tell of it. */
  readonly finalNumber: bigint;
  /** What a wallet begins with. */
  endow(wallet: string): void;
  /** Somebody outside pays, and sees to it that it stays paid. Gives the hash. */
  deposit(to: string, amount: bigint): string;
  /** One block more, of what waits and pays enough. */
  mine(): void;
  /** The newest blocks were none. What they held waits again, but for what gets lost on the way; as many others stand there. */
  reorganise(depth: number, forgotten: number): void;
  /** What waits is forgotten by everybody, this share of it. */
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

/** How a chain is asked. */
export interface ChainApi {
  /** For the trace. */
  methodOf(query: Query): string;
  /** As one node answers. */
  answer(query: Query): Promise<Response>;
  /** What an ill node says in place of it. */
  complaint(query: Query): Response;
}
