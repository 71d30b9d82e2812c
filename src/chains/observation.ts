import type { Inclusion } from '#domain/transaction/transaction.ts';

/** What one RPC node states of the attempts of a transaction. */
export interface NodeStatement {
  readonly host: string;
  /**
   * - `included`, `included-elsewhere`: in the block that is judged, or in another way.
   * - `included-unshown`: in a block, and the node does not show what it must have then.
   * - `nothing`: the node does not answer, or is behind.
   */
  readonly states: 'included' | 'included-elsewhere' | 'included-unshown' | 'not-included' | 'nonce-used' | 'nothing';
}

export type Observation =
  | {
      readonly type: 'included';
      readonly inclusion: Inclusion;
      /** The hosts of the RPC nodes without a readable trace; absent when every node has one. */
      readonly untracedBy?: readonly string[];
      /** What each RPC node states; absent when two of them state the inclusion. */
      readonly statements?: readonly NodeStatement[];
    }
  | {
      readonly type: 'absent';
      readonly inMempool: boolean;
      /** A mempool holds it, and every recent block burns more than the newest attempt offers. */
      readonly isTooCheap?: true;
      /**
       * The nonce is used permanently by a transaction that is not one of these attempts and that
       * the RPC nodes have named.
       */
      readonly nonceTaken: boolean;
      /** The hashes of the transactions that RPC nodes name with `nonceTaken`. */
      readonly takenBy?: readonly string[];
      /**
       * The nonce is used, and no RPC node shows which transaction used it: it may have been one of
       * these attempts.
       */
      readonly isUnexplained?: true;
      /**
       * One RPC node states that the nonce is used, or that an attempt is included, and another one
       * that the nonce is unused. No node shows the transaction that used it.
       */
      readonly isUseDisputed?: true;
      /** What each RPC node states, with `isUseDisputed`. */
      readonly statements?: readonly NodeStatement[];
      /**
       * Some RPC nodes have it in their mempool, and another node that answers does not have it.
       */
      readonly isWithheld?: true;
      /**
       * No RPC node that answers shows a UTXO that the attempts spend: they cannot be included
       * unless it reappears.
       */
      readonly isCoinUnknown?: true;
      /**
       * Every RPC node states that the attempts cannot be included after this block, which is
       * earlier than the recorded one.
       */
      readonly liveUntil?: string;
      /** The hosts of the RPC nodes that stated nothing; absent when each one answered. */
      readonly unansweredBy?: readonly string[];
    }
  /**
   * No attempt can be included any more, and no other transaction replaced them: a new attempt is
   * needed.
   */
  | { readonly type: 'lapsed' };
