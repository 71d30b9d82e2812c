/**
 * What a transaction offers for its inclusion. A further attempt keeps the nonce and raises the
 * prices. The unit of a price is that of the chain: wei for a unit of gas, millionths of a lamport
 * for a compute unit. A Bitcoin payment bids its whole fee, in satoshi.
 */
export interface Bid {
  /**
   * The resource that only one transaction can ever use: the account nonce, the value of a durable
   * nonce, or the UTXOs.
   */
  readonly nonce: bigint;
  /** The highest price. */
  readonly maxFee: bigint;
  /** The part of the price for the validator: the highest price where there is only one. */
  readonly maxTip: bigint;
  /**
   * The minimum of both prices for a further attempt at the same nonce, in percent. RPC nodes
   * refuse a smaller rise, so it would only be a second signature. It is 100 where of two
   * transactions with one nonce only one is executed, whatever they pay.
   */
  readonly minRisePercent: bigint;
}
