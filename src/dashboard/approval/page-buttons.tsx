import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { isPhone } from '#dashboard/approval/approval-channel.ts';

/**
 * Opens an approval page in a window, or in this tab. On a phone there is one button, and the page
 * opens in this tab (`requestSignature`).
 */
export function PageButtons(props: {
  /** The origin of the approval page. */
  readonly page: string;
  readonly label: string;
  readonly labelOfTab: string;
  readonly kind?: 'yes' | 'no';
  readonly isSending?: boolean;
  readonly open: (page: string, way: ApprovalChannel) => void;
}) {
  const { page, label, labelOfTab, kind, isSending = false, open } = props;
  return (
    <>
      <button type="button" class={kind} disabled={isSending} onClick={() => open(page, 'window')}>
        {label}
      </button>{' '}
      {!isPhone() && (
        <button type="button" disabled={isSending} onClick={() => open(page, 'redirect')}>
          {labelOfTab}
        </button>
      )}
    </>
  );
}
