import type { Amount } from '#domain/asset/amount.ts';

/** A UTXO of a wallet, as the servers of a chain list it. */
export interface WalletUtxo {
  /** Its name: the hash and the number of the output, with a colon between them. */
  readonly outpoint: string;
  readonly txid: string;
  readonly vout: number;
  readonly amount: Amount;
  /** 0 in the mempool. */
  readonly confirmations: number;
  /** By its amount and the type of its address it may carry more than satoshi. */
  readonly mayCarryMore: boolean;
  /** Two servers list it alike, or the only configured one lists it. */
  readonly isProven: boolean;
}

/** UTXOs that members have locked, by name. None when absent, and on chains with accounts. */
export type LockedUtxos = ReadonlySet<string>;
