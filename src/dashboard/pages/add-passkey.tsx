import { Fragment } from 'preact';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { isPhone } from '#dashboard/approval/approval-channel.ts';

/** Offers a new passkey of each approval page. With two pages each one is named. */
export function AddPasskey(props: {
  readonly origins: readonly string[];
  readonly enrol: (page: string, way: ApprovalChannel) => void;
}) {
  const { origins, enrol } = props;
  return (
    <>
      {origins.map((page) => {
        const label = origins.length === 1 ? 'Add passkey' : `Add passkey at ${new URL(page).host}`;
        return (
          <Fragment key={page}>
            <button type="button" onClick={() => enrol(page, 'window')}>
              {label}
            </button>
            {!isPhone() && (
              <button type="button" onClick={() => enrol(page, 'redirect')}>
                {label} in this tab
              </button>
            )}
          </Fragment>
        );
      })}
    </>
  );
}
