/** What an RPC node's refusal of signed bytes means. */
export type BroadcastErrorClass =
  /** The node has the bytes already. */
  | 'known'
  /**
   * The account is past this nonce: by these bytes, an earlier attempt, or a transaction of another
   * source.
   */
  | 'nonce-too-low'
  /** An earlier nonce is missing at this RPC node. */
  | 'nonce-gap'
  | 'underpriced'
  | 'funds'
  | 'fatal'
  /** Anything else: a busy, full or broken RPC node, or an unknown message. */
  | 'unknown';

/**
 * Parts of lower-cased messages, by class; the first class with a match counts. Messages are
 * matched and not codes, because clients return the same code for all of them. viem's error classes
 * are not used, because they turn 'already known' into 'nonce too low'.
 *
 * Order matters: 'known' before everything (other words may accompany it), 'nonce-too-low' before
 * the funds, and 'underpriced' before 'fatal'.
 */
const WORDING: readonly (readonly [BroadcastErrorClass, readonly RegExp[]])[] = [
  [
    'known',
    [
      /already known|alreadyknown/, // geth, erigon, op; Nethermind
      /\bknown transaction/, // older geth, Besu; not Besu's 'unknown transaction'
      /already imported|alreadyimported/, // anvil, Parity, its Pool(AlreadyImported)
      /ownnoncealreadyused/, // Nethermind
      /existing txn? with same hash/, // Erigon
    ],
  ],
  [
    'nonce-too-low',
    [
      /nonce (?:is )?too low/, // geth, Besu, anvil, zkSync, Parity
      /oldnonce/, // Nethermind
      /invalid transaction nonce/, // Arbitrum
    ],
  ],
  [
    'nonce-gap',
    [
      /nonce (?:is )?too high|tx-nonce-too-high/, // geth
      /noncegap/, // Nethermind
      /nonce too far in (?:the )?future|noncetoofarinfuture/, // Besu, Nethermind
      /gapped-nonce tx|delegation nonce gap/, // geth, Nethermind: an account with a delegation (EIP-7702)
      /exceeds next nonce|nonce out of range/,
    ],
  ],
  [
    'underpriced',
    [
      /underpriced/, // geth: transaction, replacement transaction
      /gas price below/, // 'transaction gas price below minimum', Besu 'Gas price below configured minimum'
      /less than block base fee/, // geth, anvil, Arbitrum
      /feetoolow/, // Nethermind, also FeeTooLowToCompete
      /fee too low/, // Erigon
      /could not replace existing tx/, // Erigon
      /replacementnotallowed/, // older Nethermind
      /another transaction with same nonce in the queue/, // Parity
      /less than gas price minimum floor/, // Celo
    ],
  ],
  [
    'funds',
    [
      /insufficient ?funds/, // geth, anvil; Nethermind InsufficientFunds
      /not enough funds/, // Arbitrum
      /would cause overdraft/, // geth
      /upfront cost exceeds account balance/, // Besu
    ],
  ],
  [
    'fatal',
    [
      /exceeds block gas limit|gaslimitexceeded/,
      // Nethermind. The text before it is also that of a sequencer whose block is full.
      /gas limit of rejected tx/,
      /intrinsic gas (?:too low|too high|exceeds)|intrinsicgas/,
      /invalid sender|failed to recover sender|failedtoresolvesender/, // the last two: Nethermind
      /max priority fee per gas higher than max fee per gas/, // geth, reth
      /transaction type not supported|unsupported transaction type|notsupportedtxtype/,
      /max initcode size exceeded|initcode too large/, // EIP-3860: geth, Erigon
      /transaction too large|maxtxsizeexceeded|rlptoolong/, // Nethermind, Erigon
      /gas uint64 overflow|gasuintoverflow|transaction cost overflow|int256overflow/,
      /oversized data/,
      /exceeds the configured cap/,
      /transaction fee cap exceeded/, // Besu
      /gas limit (?:is )?too high/, // geth, Erigon: above the limit of a transaction (EIP-7825)
      /insufficient gas for floor data gas cost/, // geth: EIP-7623
      /sender (?:is )?not an eoa|senderiscontract/, // geth, reth, Nethermind: EIP-3607
      /sender or to in black ?list/, // BSC
      /invalid chain id/,
      /^(?:transaction )?invalid(?:$|[,.:;])/, // Nethermind's Invalid; Erigon's prefix of such reasons
    ],
  ],
];

/** JSON-RPC 'invalid params': the bytes do not decode. */
const INVALID_PARAMS = -32602;

/**
 * Returns the class of a refusal.
 *
 * @param message the RPC node's own message
 * @param code of the JSON-RPC error
 */
export function classifyBroadcastError(message: string, code: number): BroadcastErrorClass {
  const words = message.toLowerCase().trim();
  for (const [name, patterns] of WORDING) {
    if (patterns.some((pattern) => pattern.test(words))) return name;
  }
  return code === INVALID_PARAMS ? 'fatal' : 'unknown';
}
