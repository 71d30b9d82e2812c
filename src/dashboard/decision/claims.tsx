import { visibleText } from '#domain/visible-text.ts';
import type { Transaction } from '#dashboard/api.ts';
import { RECIPIENT_HISTORY } from '#dashboard/approval/recipient-history.ts';
import type { Review } from '#dashboard/decision/review.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { approvalsText } from '#dashboard/text.ts';

/**
 * Shows what the service says about a transaction: its author, earlier transactions to the same
 * recipient, why it needs so many approvals, who gave one and who still can.
 */
export function Claims({ transaction, review }: { readonly transaction: Transaction; readonly review: Review }) {
  const { signers } = review.inForce;
  const history = review.remarks.find(({ label }) => label === RECIPIENT_HISTORY);
  const { createdBy, requirements, approvals, approvalsCounted, requiredApprovals } = transaction;
  const waiting = signers.filter((userId) => approvals.every((approval) => approval.userId !== userId));
  return (
    <>
      <NoteQuote of={transaction} />
      {history !== undefined && <p class="claimed">{history.text}, as the service says.</p>}
      <p class="quiet">
        {createdBy !== null && (
          <>
            Proposed by <MemberLabel userId={createdBy} />, as the service says.{' '}
          </>
        )}
        {approvalsCounted} of {approvalsText(requiredApprovals)}
        {approvals.length > 0 && (
          <>
            {', by '}
            <MemberList userIds={approvals.map(({ userId }) => userId)} />
          </>
        )}
        {waiting.length > 0 && (
          <>
            . Can still approve: <MemberList userIds={waiting} />
          </>
        )}
        .
      </p>
      {requirements.length > 1 && (
        <ul class="plain quiet">
          {requirements.map(({ rule, approvals: count, detail }) => (
            <li key={`${rule} ${count}`}>
              {approvalsText(count)}: {detail}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Shows the note as a quote: its author wrote it, and a signature does not make it true. */
export function NoteQuote({ of: { createdBy, note } }: { readonly of: Pick<Transaction, 'createdBy' | 'note'> }) {
  if (note === null) return null;
  return (
    <p class="claimed">
      Note
      {createdBy !== null && (
        <>
          {' by '}
          <MemberLabel userId={createdBy} />
        </>
      )}
      : “{visibleText(note)}”
    </p>
  );
}

function MemberList({ userIds }: { readonly userIds: readonly string[] }) {
  return (
    <>
      {userIds.map((userId, i) => (
        <span key={userId}>
          {i > 0 && ', '}
          <MemberLabel userId={userId} />
        </span>
      ))}
    </>
  );
}
