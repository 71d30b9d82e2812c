import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { PageButtons } from '#dashboard/approval/page-buttons.tsx';

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
        return <PageButtons key={page} page={page} label={label} labelOfTab={`${label} in this tab`} open={enrol} />;
      })}
    </>
  );
}
