import type { Transaction } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { visibleText } from '#domain/visible-text.ts';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';

const REJECT_TRANSACTION: Confirmation = {
  heading: 'Reject this transaction?',
  warning: 'It stops permanently, whatever its approvals, when as many signers reject it as the policy requires.',
  action: 'Reject',
  withReason: true,
};

const REJECT_CHANGE: Confirmation = {
  heading: 'Reject this policy change?',
  warning: 'It ends permanently when the signers who have not rejected it can no longer adopt it.',
  action: 'Reject',
  withReason: true,
};

/** The questions before a rejection, by its task. */
export const REJECTIONS = { 'transaction-rejection': REJECT_TRANSACTION, 'policy-rejection': REJECT_CHANGE } as const;

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
