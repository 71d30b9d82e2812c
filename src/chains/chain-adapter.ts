import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import type { Asset, ChainMovement } from '#domain/activity/movement.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ComposedBytes, FailureReason } from '#domain/transaction/event.ts';
import type { AssetAmount } from '#domain/transaction/exposure.ts';
import type { Action, MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { FeedRound } from '#domain/asset/price.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import type { Attempt, UtxoParent, Inclusion, Speed } from '#domain/transaction/transaction.ts';
import type { ChainCounts } from '#domain/wallet/wallet-nonce.ts';

/** An allowance over tokens of the wallet that a transaction would set or revoke. */
export interface Allowance {
  readonly tokenAddress: string;
  /** The id of one token of a collection; null for any. */
  readonly tokenId: string | null;
  readonly spender: string;
  /** In the token's smallest unit; null for an unlimited allowance. */
  readonly amount: Amount | null;
}

/** What an intent would do in the current state, as one RPC node states it: it warns, and decides nothing. */
export type Simulation =
  | {
      readonly outcome: 'succeeds';
      /** All movements but the fee. */
      readonly movements: readonly ChainMovement[];
      readonly allowances: readonly Allowance[];
    }
  /** In words. */
  | { readonly outcome: 'fails'; readonly detail: string };

export type AddressFault = 'malformed' | 'bad-checksum' | 'zero-address' | 'off-curve' | 'other-network';

/** What the wallet has is on its way: in others of its transactions, or to it. */
export interface BusyFault {
  readonly kind: 'busy';
}

/** `permanent` ends the transaction before anything is signed; after `busy` and `transient` the same question may do better later. */
export type PreparationFault =
  | {
      readonly kind: 'permanent';
      readonly reason: FailureReason;
      readonly detail: string | null;
      /** With INSUFFICIENT_FUNDS what the wallet is short of; absent where a node says so without a number. */
      readonly missing?: AssetAmount;
    }
  | BusyFault
  | { readonly kind: 'transient'; readonly detail: string };

/** What inclusion costs now; the rest is known to nobody but the adapter that gave it. */
export interface Quote {
  /** Coins (`<transaction>:<number of the output>`) that no other transaction of the wallet may use meanwhile; absent where there are accounts. */
  readonly utxos?: readonly string[];
  /** The most that the bytes can make the wallet pay, in the chain's smallest unit. */
  readonly maxFee: Amount;
  /** What it takes of which balances, so that no other transaction of the wallet takes the same; absent where there are coins. */
  readonly spending?: Spending;
  /** Of Bitcoin, in virtual bytes. */
  readonly virtualSize?: string;
}

interface QuoteOptions {
  /** Normal when absent. */
  readonly speed?: Speed;
  /** Coins that other transactions of the wallet have claimed; none when absent. */
  readonly taken?: ReadonlySet<string>;
  /** Of a consolidation: how many of the smallest coins it spends. */
  readonly joins?: number;
  /** A block that the node has to have whose balances count; any node will do when absent, and where there are coins. */
  readonly notBefore?: bigint;
}

/** What an estimate says of each speed, in the chain's smallest unit. */
interface FeeTier {
  /** At the price of now, with everything that is paid once. */
  readonly expectedFee: Amount;
  /** The most that it can come to. */
  readonly maxFee: Amount;
}

interface Tiers<T> {
  readonly slow: FeeTier & T;
  readonly normal: FeeTier & T;
  readonly fast: FeeTier & T;
}

/** Wei per gas. */
interface GasPrices {
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

export interface EvmFeeEstimate extends Tiers<GasPrices> {
  readonly gasLimit: string;
  /** Of OP-stack chains for putting the bytes on Ethereum; 0 elsewhere. */
  readonly dataFee: Amount;
}

/** Prices are millionths of a lamport per compute unit. */
export interface SolanaFeeEstimate extends Tiers<{ readonly unitPrice: string }> {
  readonly unitLimit: string;
  /** Lamports that the accounts which are opened hold from then on: the recipient's for a token, the wallet's own for its nonce. */
  readonly accountRent: Amount;
}

/** Prices are thousandths of a satoshi per virtual byte. */
export interface BitcoinFeeEstimate extends Tiers<{ readonly feeRate: string }> {
  /** Virtual bytes, as BIP-141 counts them. */
  readonly virtualSize: string;
}

type FeeEstimate = EvmFeeEstimate | SolanaFeeEstimate | BitcoinFeeEstimate;

/** Which of the wallet's nonces an attempt is to use, and the attempt that it takes the place of. */
export interface NonceSlot {
  readonly from: string;
  readonly nonce: bigint;
  readonly replaced: Attempt | null;
}

/** What chains say whose payments carry no memo. */
export const NO_MEMO = 'The field is supported only for payments on Solana.';

/** A message in the one spelling that is signed, and how it is hashed. */
export type MessageText = Pick<MessageIntent, 'format' | 'message'>;

/** Of an ECDSA signature: two scalars of 32 bytes, big-endian, and the parity of the nonce point. */
export interface EcdsaSignatureParts {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly yParity: 0 | 1;
}

/** Whichever the scheme of a chain's keys gives; of Ed25519 and BIP-340 the 64 bytes as their standards have them. */
export type ChainSignature = EcdsaSignatureParts | { readonly bytes: Uint8Array };

export type BroadcastVerdict =
  /** The network has the bytes, or already had them. */
  | { readonly outcome: 'accepted' }
  /** Nobody knows whether they are out: only the same bytes may follow. */
  | { readonly outcome: 'unknown'; readonly answer: string }
  /** The network wants more for them. */
  | { readonly outcome: 'underpriced'; readonly answer: string }
  /** Refused for good by every node, and none of them can have kept the bytes. */
  | { readonly outcome: 'refused'; readonly answer: string }
  /** Refused by those that could be asked. One that could not may have been asked before, and have kept the bytes: nothing is known yet. */
  | { readonly outcome: 'undecided'; readonly answer: string }
  /** The account nonce is used, and not by these bytes. */
  | { readonly outcome: 'conflicted'; readonly answer: string };

export type Observation =
  | { readonly type: 'included'; readonly inclusion: Inclusion }
  | {
      readonly type: 'absent';
      readonly inMempool: boolean;
      /** A mempool holds it, and every block of late burns more than the newest attempt offers. */
      readonly isTooCheap?: true;
      /** Used for good by a transaction that is none of these attempts, and that the nodes have named. */
      readonly nonceTaken: boolean;
      /** The nonce is used, and no node shows by what: it may have been one of these attempts. */
      readonly isUnexplained?: true;
      /** Some nodes have it in their mempool, and another node that answers knows nothing of it. */
      readonly isWithheld?: true;
      /** No node that answers shows a coin that the attempts spend: they cannot be included unless it comes back. */
      readonly isCoinUnknown?: true;
    }
  /** No attempt can be included any more, and nothing has been in their place: it calls for another. */
  | { readonly type: 'lapsed' };

/** Why nothing can be said. Never holds the address of a node: those carry keys. */
export interface ChainFault {
  readonly detail: string;
}

/** What was looked through, and what was found. Block numbers as decimal text, both ends included. */
export interface Scan {
  readonly hashes: readonly string[];
  /** Where log lines of tokens were looked for. */
  readonly tokens: { readonly fromBlock: string; readonly toBlock: string };
  /** Where payments were looked for, as far back as the node has the state. */
  readonly payments: { readonly fromBlock: string; readonly toBlock: string };
  /** Blocks with payments that the node would not trace: those of contracts in them were not found. */
  readonly untraced: number;
}

/** What a wallet holds at one block. */
export interface Holdings {
  readonly blockNumber: string;
  /** In the order of the assets that were asked for; null for one that does not say. */
  readonly amounts: readonly (Amount | null)[];
  /** Two nodes say different things of the same block. */
  readonly isDisputed: boolean;
}

/** What a token says of itself, which may be anything. */
export interface TokenMetadata {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
}

/** How many transactions of an account there are in the chain, and with the mempool. */
export type AccountNonce = ChainCounts;

export interface WatchedAttempts {
  readonly from: string;
  readonly nonce: bigint;
  /** Every hash that was ever signed for this nonce. */
  readonly hashes: readonly string[];
  /** The newest one that is signed, with the last block that can hold any of them. */
  readonly newest: Pick<Attempt, 'payload' | 'validUntil' | 'anchoredAt'>;
  /** Of all that are signed, where an attempt may leave out a coin of the one before; the newest alone when absent. */
  readonly payloads?: readonly string[];
  /** Of the coins of all attempts, as far as they are known. */
  readonly coinParents?: readonly UtxoParent[];
  /** Where it was found before, or null. */
  readonly inclusion: Inclusion | null;
}

/**
 * What Conclave needs of a chain. The first group is pure; the second talks to the operator's nodes and answers with values,
 * never with an exception: a node that is away, lies in its shape, or serves another chain is a fault and not a crash.
 */
export interface ChainAdapter<Q extends Quote = Quote, A = unknown, E extends FeeEstimate = FeeEstimate> {
  readonly chain: Chain;
  /** The largest amount that the chain can carry, in its smallest unit. */
  readonly largestAmount: bigint;
  /** What can be done on it. */
  readonly kinds: readonly Action['kind'][];
  /** Transactions of one wallet that can be on their way at once; null where the chain puts them into an order by itself. */
  readonly maxInFlight: number | null;
  /** It pays with coins, and those that one transaction has claimed another has to leave alone. */
  readonly spendsUtxos: boolean;
  /** Gives the canonical spelling. Refuses, in order: `malformed`, `zero-address`, and what is wrong on this chain. */
  parseRecipient(text: string): Result<string, AddressFault>;
  /** The canonical spelling of an address that a program derives, which `parseRecipient` refuses; null for any other one. */
  parseKeylessRecipient(text: string): string | null;
  parseToken(text: string): Result<string, AddressFault>;
  /** The canonical spelling of calldata; null for what is none, or too long. */
  parseCalldata(text: string): string | null;
  /** Refuses in words. */
  parseMessage(text: string): Result<MessageText, string>;
  /** Returns what is wrong with the memo of a payment, in words; null when nothing is. */
  memoFault(memo: string): string | null;
  /** The unsigned bytes of an intent. */
  compose(intent: OnChainIntent, quote: Q, anchor: A): ComposedBytes;
  /** Joins bytes and signatures. Refuses what is not exactly the intent, signed by exactly its wallet. */
  assemble(
    intent: OnChainIntent,
    attempt: Attempt,
    signatures: readonly ChainSignature[],
  ): Result<{ readonly raw: string; readonly hash: string }, ChainFault>;
  /** What is signed for a message, in hex: the bytes, and their hash. */
  composeMessage(intent: MessageIntent): { readonly payload: string; readonly signingDigest: string };
  /** The signature as the chain's wallets give it. Refuses one that is not by exactly the intent's wallet. */
  assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<string, ChainFault>;

  /** Fees of now, with a dry run, the balances and the fee cap. For a replacement both fees rise enough for nodes to take it. */
  quote(intent: OnChainIntent, replaced: Attempt | null, options?: QuoteOptions): Promise<Result<Q, PreparationFault>>;
  /** What the bytes of an attempt hang on, so that of all attempts at one nonce at most one is ever included. */
  anchor(slot: NonceSlot): Promise<Result<A, ChainFault>>;
  /** What an intent would cost now. Refuses what its call would meet. */
  estimate(intent: OnChainIntent): Promise<Result<E, PreparationFault>>;
  /** What an intent would do to its wallet now. Refuses where no node can say. */
  simulate(intent: OnChainIntent): Promise<Result<Simulation, ChainFault>>;
  /** What co-signers have to see beside a payload before they believe what it takes for granted; mostly nothing. */
  evidence(payload: string): Promise<Result<readonly string[], ChainFault>>;
  /** @param requiresProof with what is proven of the counts: by two RPC nodes, or by a final block where there is one */
  accountNonce(address: string, requiresProof?: boolean): Promise<Result<AccountNonce, ChainFault>>;
  /** The number of the newest block that two RPC nodes have, where two or more are configured. */
  provenHead(): Promise<Result<bigint, ChainFault>>;
  broadcast(raw: string, hash: string): Promise<BroadcastVerdict>;
  /**
   * A transaction of anybody's with all that it moved; null when the chain has none of this hash that succeeded. One that waits to be
   * mined is told of only where no block had it before. Never null while the block in which it was found before still stands: that is a
   * node that lags behind.
   */
  activity(hash: string, found: ActivityBlock | null): Promise<Result<ChainTransaction | null, ChainFault>>;
  /**
   * Hashes of what may concern an address, for what no monitor has reported: in the blocks after one, as far back as is bearable, or in the
   * newest.
   */
  scan(address: string, since: string | null): Promise<Result<Scan, ChainFault>>;
  /**
   * What an address holds of these, at the newest block that is deep enough.
   * @param requiresProof by the word of two nodes, where there are two
   */
  holdings(address: string, assets: readonly Asset[], requiresProof: boolean): Promise<Result<Holdings, ChainFault>>;
  token(address: string): Promise<Result<TokenMetadata, ChainFault>>;
  priceFeed(address: string): Promise<Result<FeedRound, ChainFault>>;
  /** Never reports `absent` while the recorded block still stands: that is a node that lags behind. */
  observe(watched: WatchedAttempts): Promise<Result<Observation, ChainFault>>;
}
