/** What an RPC node answers that is not so. */
const FALSE_ANSWERS = [
  /** Whatever was handed to it is in a real block, deep and final. */
  'false-inclusion',
  /** The same in a block far ahead, with a head to match. */
  'far-inclusion',
  /** Its head is ahead of all blocks. */
  'false-depth',
  /** Its newest block is final. */
  'false-finality',
  /** Durable nonces have other values. */
  'false-nonce',
  /** Prices are a million times as high. */
  'false-rate',
  /** A UTXO of the wallet that does not exist. */
  'false-coin',
] as const;
export type FalseAnswer = (typeof FALSE_ANSWERS)[number];

/**
 * The false and the missing answers of an RPC node: the one table of the simulation and of the run
 * of the lies one by one (`test:simulation -- --lies`).
 */
export const LIES = [
  ...FALSE_ANSWERS,
  /** A false inclusion after every other block, and the truth after the others. */
  'flickering',
  /** Of transactions of an account. */
  'false-count',
  /** No answer. */
  'silence',
  /** It sees no newer block. */
  'standing-still',
  /** It finds no transaction by its hash. */
  'history-lost',
] as const;
export type Lie = (typeof LIES)[number];

export function isFalseAnswer(lie: Lie | null): lie is FalseAnswer {
  return FALSE_ANSWERS.some((one) => one === lie);
}

/** The number of a block that there never is. */
export const FAR = 1_000_000_000_000n;

/** An object that answers as another one does, but for these members. */
export function lyingAs<T extends object>(honest: T, lies: Partial<T>): T {
  return new Proxy(honest, {
    get: (target, name) => {
      if (name in lies) return Reflect.get(lies, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
