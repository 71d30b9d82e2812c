import type { Transaction } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';

export const REJECT_TRANSACTION: Confirmation = {
  heading: 'Reject this transaction?',
  warning: 'One rejection ends it permanently, whatever its approvals.',
  action: 'Reject',
  withReason: true,
};

export const REJECT_CHANGE: Confirmation = {
  heading: 'Reject this policy change?',
  warning: 'It ends permanently when the signers who have not rejected it can no longer adopt it.',
  action: 'Reject',
  withReason: true,
};

/** Shows who rejected, with the reason as a quote. No signature proves the reason. */
export function RejectionText(props: { readonly rejection: NonNullable<Transaction['rejection']> }) {
  const { userId, at, reason } = props.rejection;
  return (
    <>
      <MemberLabel userId={userId} /> rejected <Time iso={at} />
      {reason !== null && (
        <p class="claimed">
          Reason by <MemberLabel userId={userId} />: “{reason}”
        </p>
      )}
    </>
  );
}
