import { useState } from 'preact/hooks';
import { api, good } from '#dashboard/api.ts';
import type { CredentialReset } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { ErrorText, reasonOf, useLoaded } from '#dashboard/shell/loading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

/** The open credential resets of members of a vault, each with a way to cancel it. */
export function VaultCredentialResets({ vaultId }: { readonly vaultId: string }) {
  const line = api.vault[':vaultId']['credential-reset'];
  const { loaded, reload } = useLoaded(
    `credential-resets ${vaultId}`,
    async () => (await good(line.$get({ param: { vaultId } }))).data,
  );
  const cancel = (resetId: string) => good(line[':resetId'].cancel.$post({ param: { vaultId, resetId } }));
  return <Banners loaded={loaded} cancel={cancel} reload={reload} />;
}

/** Shows the open credential resets of the reader. */
export function OwnCredentialResets() {
  const line = api.user.me['credential-reset'];
  const { loaded, reload } = useLoaded('own credential resets', async () => (await good(line.$get())).data);
  const cancel = (resetId: string) => good(line[':resetId'].cancel.$post({ param: { resetId } }));
  return <Banners loaded={loaded} cancel={cancel} reload={reload} />;
}

const CANCEL_RESET: Confirmation = {
  heading: 'Cancel this credential reset?',
  warning: 'It ends permanently. A person without working credentials must ask an operator again, and wait again.',
  action: 'Cancel reset',
};

function Banners(props: {
  readonly loaded: Loaded<readonly CredentialReset[]>;
  readonly cancel: (resetId: string) => Promise<unknown>;
  readonly reload: () => void;
}) {
  const { loaded, cancel, reload } = props;
  const [fault, setError] = useState<string | null>(null);
  const { confirm, dialog } = useConfirmation();
  const resets = loaded.state === 'ready' ? loaded.value : [];
  const open = resets.filter(({ state }) => state === 'PENDING' || state === 'READY');
  return (
    <>
      {open.map(({ id, userId, effectiveAt }) => (
        <div key={id} class="problem" role="alert">
          <p>
            An operator requested new credentials for <MemberLabel userId={userId} />. They can be issued from{' '}
            <Time iso={effectiveAt} />. If <MemberLabel userId={userId} /> did not ask for this, cancel it now.
          </p>
          <button
            type="button"
            class="no"
            onClick={() =>
              confirm(CANCEL_RESET, () => {
                setError(null);
                cancel(id).then(reload, (error: unknown) => setError(reasonOf(error)));
              })
            }
          >
            Cancel the reset
          </button>
        </div>
      ))}
      <ErrorText why={loaded.state === 'failed' ? loaded.why : fault} />
      {dialog}
    </>
  );
}
