/** The kinds of false answers of an RPC node. */
const FALSE_ANSWERS = [
  /** A transaction that was sent to the RPC node is in a real block, which is deep and final. */
  'false-inclusion',
  /**
   * A transaction that was sent to the RPC node is in a block far ahead, and the head is ahead of
   * that block.
   */
  'far-inclusion',
  /** The head of the chain is ahead of all blocks. */
  'false-depth',
  /** The newest block is final. */
  'false-finality',
  /** Durable nonces have values other than the true ones. */
  'false-nonce',
  /** Prices are many times the true ones. */
  'false-rate',
  /** The wallet has a UTXO that does not exist. */
  'false-coin',
  /** Every transaction moved more than it did, and cost another fee. */
  'false-contents',
  /** A call takes less gas than it does. */
  'false-gas',
  /** The wallet still has the UTXOs that it has spent. */
  'old-list',
  /** Every nonce account of the wallet is open. */
  'false-account',
  /**
   * A transaction that was sent to the RPC node was accepted and waits to be mined. The RPC node
   * relays it to no other node, so that no miner gets it.
   */
  'unrelayed',
] as const;
export type FalseAnswer = (typeof FALSE_ANSWERS)[number];

/**
 * All false and missing answers of an RPC node. Random histories and the systematic sweep
 * (`test:simulation -- --lies`) use this list.
 */
export const LIES = [
  ...FALSE_ANSWERS,
  /** A false inclusion and the truth alternate from block to block. */
  'flickering',
  /** The transaction count of an account is too high. */
  'false-count',
  /** The RPC node does not answer. */
  'silence',
  /** The RPC node sees no newer block. */
  'standing-still',
  /** The RPC node finds no transaction by its hash. */
  'history-lost',
] as const;
export type Lie = (typeof LIES)[number] | typeof SWALLOWED;

/**
 * The RPC node accepts transactions, relays them to no other node, and does not show them. Only the
 * stories in which this lasts for hours have this lie.
 */
export const SWALLOWED = 'swallowed';

export function isFalseAnswer(lie: Lie | null): lie is FalseAnswer {
  return FALSE_ANSWERS.some((one) => one === lie);
}

/** The number of a block that never exists. */
export const FAR = 1_000_000_000_000n;

/** Returns an object that answers like `honest`, except for the members in `lies`. */
export function lyingAs<T extends object>(honest: T, lies: Partial<T>): T {
  return new Proxy(honest, {
    get: (target, name) => {
      if (name in lies) return Reflect.get(lies, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
