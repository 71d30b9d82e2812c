import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

/** The recipient, the contract that is called, or the spender of an allowance. */
const RECIPIENT = "coalesce(document ->> '$.intent.spender', document ->> '$.intent.to')";

/** When the newest attempt was signed. Later changes of a record, such as hiding it, keep it. */
const AT = "coalesce(document ->> '$.attempts[#-1].signed.atMs', document ->> '$.createdAtMs')";

const [CHAIN, KIND] = ["document ->> '$.chain'", "document ->> '$.intent.kind'"];

const HAS_SUCCEEDED = "document ->> '$.state' = 'SUCCEEDED'";

/** Finds the own successful transactions to an address, without reading any document. */
export const RECIPIENT_INDEX = `
  CREATE INDEX tx_recipient ON tx (${CHAIN}, ${KIND}, ${RECIPIENT}, ${AT}) WHERE ${HAS_SUCCEEDED};
`;

const COUNT = `
  SELECT count(*) AS count, max(${AT}) AS lastAtMs FROM tx
    WHERE ${CHAIN} = ? AND ${KIND} = ? AND ${RECIPIENT} = ? AND ${HAS_SUCCEEDED}
`;

/** The own successful transactions of one kind to one address on one chain. */
export interface EarlierTransactions {
  readonly count: number;
  /** When the last of them was signed; null without one. */
  readonly lastAtMs: number | null;
}

/** Returns the address that a transaction pays, calls or gives an allowance to. */
function recipientOf(intent: OnChainIntent): string {
  return intent.kind === 'erc20-approve' ? intent.spender : intent.to;
}

/** Counts the own transactions of one vault by their recipient. */
export class RecipientTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Returns the transactions of the same kind that succeeded on the same chain with the same
   * recipient; null for a message, which has none. Reported activities are in another table and do
   * not count: anyone can cause them. A pending transaction does not count itself.
   */
  earlier({ chain, intent }: Pick<Transaction, 'chain' | 'intent'>): EarlierTransactions | null {
    if (intent.kind === 'message') return null;
    const bindings = [chain, intent.kind, recipientOf(intent)];
    return this.#sql.exec<{ count: number; lastAtMs: number | null }>(COUNT, ...bindings).one();
  }
}
