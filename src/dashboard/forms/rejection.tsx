import type { Transaction } from '#dashboard/api.ts';
import type { Question } from '#dashboard/forms/confirm-dialog.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { visibleText } from '#domain/visible-text.ts';

export const REJECT_TRANSACTION: Question = {
  heading: 'Reject this transaction?',
  warning: 'One rejection ends it permanently, whatever its approvals.',
  action: 'Reject',
  takesReason: true,
};

export const REJECT_CHANGE: Question = {
  heading: 'Reject this policy change?',
  warning: 'It ends permanently when the signers who have not rejected it can no longer adopt it.',
  action: 'Reject',
  takesReason: true,
};

/** Shows who rejected, with the reason as a quote. No signature proves the reason. */
export function RejectionText(props: { readonly rejection: NonNullable<Transaction['rejection']> }) {
  const { userId, at, reason } = props.rejection;
  return (
    <>
      <MemberLabel userId={userId} /> rejected <Time iso={at} />
      {reason !== null && (
        <p class="claimed">
          Reason by <MemberLabel userId={userId} />: “{visibleText(reason)}”
        </p>
      )}
    </>
  );
}
