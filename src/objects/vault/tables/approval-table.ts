import type { Approval } from '#domain/access/approval.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

/** If a bug in the domain would count one user twice, SQL refuses the commit. */
export const APPROVAL_TABLE = `
  CREATE TABLE vote (tx_id TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (tx_id, user_id)) WITHOUT ROWID;
`;

/** The approvals of each transaction. Every write happens inside the object's `transactionSync`. */
export class ApprovalTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Writes the approvals of a changed record. Returns whether some of them no longer count. */
  put(before: Transaction, after: Transaction): boolean {
    const isFewer = after.approvals.length < before.approvals.length;
    if (isFewer) this.#sql.exec('DELETE FROM vote WHERE tx_id = ?', after.id);
    for (const approval of isFewer ? after.approvals : after.approvals.slice(before.approvals.length)) {
      this.#add(after, approval);
    }
    return isFewer;
  }

  #add({ id }: Transaction, { actor }: Approval): void {
    this.#sql.exec('INSERT INTO vote (tx_id, user_id) VALUES (?, ?)', id, actor.userId);
  }
}
