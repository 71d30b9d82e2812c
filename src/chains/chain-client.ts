import type { Claim } from '#chains/contents.ts';
import type { Observation } from '#chains/observation.ts';
import type { Objection } from '#domain/transaction/event.ts';
import type { LockedUtxos, WalletUtxo } from '#chains/wallet-utxo.ts';
import type { ChainFault, ChainRules, Quote } from '#chains/chain-rules.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import type { Asset, ChainMovement } from '#domain/asset/movement.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { FailureReason } from '#domain/transaction/event.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { NodeProbe } from '#domain/operations/rpc-node.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { FeedRound } from '#domain/asset/price.ts';
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

/**
 * What an intent would do in the current state, according to one RPC node. It warns and decides
 * nothing.
 */
export type Simulation =
  | {
      readonly outcome: 'succeeds';
      /** All movements except the fee. */
      readonly movements: readonly ChainMovement[];
      readonly allowances: readonly Allowance[];
    }
  /** A text for users. */
  | { readonly outcome: 'fails'; readonly detail: string };

/** The wallet's funds are in flight: reserved by its other transactions, or pending in. */
export interface BusyFault {
  readonly kind: 'busy';
}

/**
 * `permanent` ends the transaction before anything is signed. After `busy` and `transient` a retry
 * may succeed.
 */
export type PreparationFault =
  | {
      readonly kind: 'permanent';
      readonly reason: FailureReason;
      readonly detail: string | null;
      /**
       * The shortfall of the wallet for INSUFFICIENT_FUNDS; absent when an RPC node reports no
       * number.
       */
      readonly missing?: AssetAmount;
    }
  | BusyFault
  | { readonly kind: 'transient'; readonly detail: string };

interface QuoteOptions {
  /** Normal when absent. */
  readonly speed?: Speed;
  /** UTXOs that other transactions of the wallet have reserved; none when absent. */
  readonly taken?: ReadonlySet<string>;
  readonly locked?: LockedUtxos;
  /** For a consolidation: the number of the smallest UTXOs that it spends. */
  readonly joins?: number;
  /** Whether a consolidation spends UTXOs that may carry more than satoshi; false when absent. */
  readonly includeMayCarryMore?: boolean;
  /**
   * A block that the RPC node must have before its balances count. Any node is valid when absent,
   * and on chains with UTXOs.
   */
  readonly notBefore?: bigint;
}

/** The fees of an estimate at one speed, in the chain's smallest unit. */
export interface FeeTier {
  /** At the current price, including one-time costs. */
  readonly expectedFee: Amount;
  /** The maximum that the fee can reach. */
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
  /** What OP-stack chains charge for publishing the bytes on Ethereum; 0 elsewhere. */
  readonly dataFee: Amount;
}

/** Prices are millionths of a lamport per compute unit. */
export interface SolanaFeeEstimate extends Tiers<{ readonly unitPrice: string }> {
  readonly unitLimit: string;
  /**
   * Lamports that newly opened accounts hold from then on: the recipient's for a token, the
   * wallet's own for its nonce.
   */
  readonly accountRent: Amount;
  /** What a token withholds from the recipient, out of the amount, in its units. */
  readonly tokenFee: Amount;
}

/** Prices are thousandths of a satoshi per virtual byte. */
export interface BitcoinFeeEstimate extends Tiers<{ readonly feeRate: string }> {
  /** Virtual bytes, as BIP-141 counts them. */
  readonly virtualSize: string;
}

type FeeEstimate = EvmFeeEstimate | SolanaFeeEstimate | BitcoinFeeEstimate;

/** The nonce slot that an attempt uses, and the attempt that it replaces. */
export interface NonceSlot {
  readonly from: string;
  readonly nonce: bigint;
  readonly replaced: Attempt | null;
  /**
   * The unsigned bytes of earlier payments at this slot that only one RPC node reports as final.
   * None when absent. The slot is refused while the chain shows that one of them is not included.
   */
  readonly predecessors?: readonly string[];
}

export type BroadcastVerdict =
  /**
   * The network has the bytes, or already had them. `objection`: another RPC node refuses them, so
   * the one that accepts may not relay them.
   */
  | { readonly outcome: 'accepted'; readonly objection?: Objection }
  /** Whether the network has the bytes is unknown: only the same bytes may follow. */
  | { readonly outcome: 'unknown'; readonly answer: string }
  /** The network requires a higher fee for them. */
  | { readonly outcome: 'underpriced'; readonly answer: string }
  /** Every RPC node refuses permanently, and none of them can have kept the bytes. */
  | { readonly outcome: 'refused'; readonly answer: string }
  /**
   * All reachable RPC nodes refuse. An unreachable one may have received and kept the bytes
   * earlier, so the outcome is open.
   */
  | { readonly outcome: 'undecided'; readonly answer: string }
  /** The account nonce is used, and not by these bytes. */
  | { readonly outcome: 'conflicted'; readonly answer: string };

/** Without a block the first number is greater than the last one. */
type ScannedBlocks = Readonly<Record<'fromBlock' | 'toBlock', string>>;

/**
 * The scanned blocks and what the scan found. Block numbers are decimal text, both ends included.
 */
export interface Scan {
  readonly hashes: readonly string[];
  /** The blocks that the scan had to read. */
  readonly requested: ScannedBlocks;
  /** The blocks in which the scan read the logs of tokens. */
  readonly tokens: ScannedBlocks;
  /** The blocks in which the scan read payments, as far back as the RPC node has the state. */
  readonly payments: ScannedBlocks;
  /**
   * The number of blocks that the RPC node did not show completely: payments by contracts in them
   * are missing, or tokens.
   */
  readonly untraced: number;
  /** The host of the RPC node; absent when every block was complete. */
  readonly untracedBy?: string;
}

interface ScanOptions {
  readonly memory?: ScanMemory;
  /**
   * The tokens whose payments are searched first, where each token has an account: a stranger can
   * open any number of them. The listed ones follow.
   */
  readonly tokens?: readonly string[];
}

/** What scans remember of RPC nodes, by chain and host: the index of the range that worked. */
export type ScanMemory = Map<string, number>;

/**
 * What a reading of a chain states about one asset. A balance is compared with, and set to, a
 * covered value alone.
 */
export type Reading =
  /** The wallet has exactly these units at the end of this block. */
  | {
      readonly state: 'covered';
      readonly units: Amount;
      readonly blockNumber: string;
      /** The newer block of two RPC nodes that keep no older state, else the same block. */
      readonly lastBlock: string;
    }
  /** The contract ran and states no amount: it is no token, or it does not work. */
  | { readonly state: 'no-balance' }
  /** Nothing is known, for example because two RPC nodes disagree. It never stands for zero. */
  | { readonly state: 'not-read' };

/** What one RPC node states about the assets of a wallet. */
export interface NodeHoldings {
  /** The newest block of the readings. */
  readonly blockNumber: string;
  /** In the order of the requested assets. */
  readonly readings: readonly Reading[];
}

export interface Holdings extends NodeHoldings {
  /** Two RPC nodes state different amounts of an asset, so it is not read. */
  readonly isDisputed: boolean;
}

/** What a token reports of itself, which may be anything. */
export interface TokenMetadata {
  readonly symbol: string | null;
  readonly name: string | null;
  readonly decimals: number | null;
}

/** The transaction counts of an account: on the chain, and with the mempool. */
export type AccountNonce = ChainCounts;

/** A transaction as RPC nodes show it, with what they could not show. */
export interface ReadTransaction extends ChainTransaction {
  /** It is in a block, failed, and moved nothing besides its fee. Its state does not change. */
  readonly hasFailed?: true;
  /** The hosts of the RPC nodes without a readable trace; absent when every node has one. */
  readonly untracedBy?: readonly string[];
  /** No RPC node has a readable trace, so payments by contracts are missing. */
  readonly isUntraced?: true;
  /** Payments by contracts that one RPC node alone states; they are not among the movements. */
  readonly claim?: Claim;
  /** Two RPC nodes state its payments by contracts alike, and none otherwise. */
  readonly isTracedAlike?: true;
}

/** The token payment of an intent. */
export interface TokenPayment {
  readonly tokenAddress: string;
  readonly to: string;
  readonly amount: Amount;
  /** The hashes of the attempts that pay; a cancellation pays nothing. */
  readonly hashes: readonly string[];
}

export interface WatchedAttempts {
  readonly from: string;
  readonly nonce: bigint;
  /** Every hash that was ever signed for this nonce. */
  readonly hashes: readonly string[];
  /** The newest signed attempt, with the last block that can hold any of them. */
  readonly newest: Pick<Attempt, 'payload' | 'validUntil' | 'anchoredAt'>;
  /**
   * The payloads of all signed attempts, where an attempt may leave out a UTXO of its predecessor;
   * only the newest when absent.
   */
  readonly payloads?: readonly string[];
  /** The parents of the UTXOs of all attempts, as far as they are known. */
  readonly coinParents?: readonly UtxoParent[];
  /** The last known inclusion, or null. */
  readonly inclusion: Inclusion | null;
  /** Another RPC node states the inclusion now: it names the block, and proves no contents. */
  readonly isClaimed?: true;
  /** Absent when the transaction pays no token. */
  readonly tokenPayment?: TokenPayment;
}

/**
 * The client of a chain. It calls the operator's RPC nodes and returns values, never exceptions: a
 * node that is unreachable, answers in a wrong shape or serves another chain is a fault and not a
 * crash.
 */
export interface ChainClient<Q extends Quote = Quote, A = unknown, E extends FeeEstimate = FeeEstimate> {
  readonly chain: Chain;
  readonly rules: ChainRules<Q, A>;
  /**
   * Returns the current fees after a dry run and checks of the balances and the fee cap. For a
   * replacement both fees rise enough for RPC nodes to accept it.
   */
  quote(intent: OnChainIntent, replaced: Attempt | null, options?: QuoteOptions): Promise<Result<Q, PreparationFault>>;
  /**
   * Returns what the bytes of an attempt depend on, so that at most one of all attempts at one
   * nonce is ever included.
   */
  anchor(slot: NonceSlot): Promise<Result<A, ChainFault>>;
  /** Returns the current cost of an intent. Refuses with the failure that its call would meet. */
  estimate(intent: OnChainIntent, locked?: LockedUtxos): Promise<Result<E, PreparationFault>>;
  /** Returns what an intent would do to its wallet now. Refuses when no RPC node can answer. */
  simulate(intent: OnChainIntent, locked?: LockedUtxos): Promise<Result<Simulation, ChainFault>>;
  /** Returns the UTXOs of a wallet, the largest first. Absent on chains with accounts. */
  utxos?(address: string): Promise<Result<readonly WalletUtxo[], ChainFault>>;
  /**
   * Returns which of these addresses are contracts. Accounts with delegated code (EIP-7702) are
   * none. It warns and decides nothing.
   */
  contracts(addresses: readonly string[]): Promise<Result<readonly string[], ChainFault>>;
  /** Returns what co-signers need beside a payload to verify its assumptions; mostly nothing. */
  evidence(payload: string): Promise<Result<readonly string[], ChainFault>>;
  /**
   * @param requiresProof requires proof of the counts: by two RPC nodes, or by a final block where
   * one exists
   */
  accountNonce(address: string, requiresProof?: boolean): Promise<Result<AccountNonce, ChainFault>>;
  /**
   * Returns the number of the newest block that two RPC nodes have, where two or more are
   * configured.
   */
  provenHead(): Promise<Result<bigint, ChainFault>>;
  /** Reads the chain, the newest number and one block hash of each RPC node. */
  probe(): Promise<readonly NodeProbe[]>;
  broadcast(raw: string, hash: string): Promise<BroadcastVerdict>;
  /**
   * Returns any transaction with all its movements; null when no transaction with this hash
   * succeeded on the chain. A transaction in a mempool is reported only when no block held it
   * before. It is never null while the recorded block still stands: the RPC node lags behind then.
   */
  activity(hash: string, found: ActivityBlock | null): Promise<Result<ReadTransaction | null, ChainFault>>;
  /** Returns those payments of `read.claim` that balances of another RPC node prove (EVM). */
  provenClaim(read: ReadTransaction, wallets: readonly string[]): Promise<readonly ChainMovement[]>;
  /**
   * Returns hashes of transactions that may concern an address and that no monitor reported. It
   * scans the blocks after `since` as far back as is affordable, or the newest blocks.
   */
  scan(address: string, since: string | null, options?: ScanOptions): Promise<Result<Scan, ChainFault>>;
  /**
   * Returns an address's holdings of these assets at the newest block that is deep enough.
   *
   * @param requiresProof requires two RPC nodes to agree, where two are configured
   */
  holdings(address: string, assets: readonly Asset[], requiresProof: boolean): Promise<Result<Holdings, ChainFault>>;
  token(address: string): Promise<Result<TokenMetadata, ChainFault>>;
  priceFeed(address: string): Promise<Result<FeedRound, ChainFault>>;
  /** Never reports `absent` while the recorded block still stands: the node lags behind then. */
  observe(watched: WatchedAttempts): Promise<Result<Observation, ChainFault>>;
}
