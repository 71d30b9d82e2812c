import type { ComponentChildren } from 'preact';
import { api, good } from '#dashboard/api.ts';
import type { CredentialReset } from '#dashboard/api.ts';
import { useDecisions } from '#dashboard/pending.ts';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { ErrorText, useAttempt, useLoaded } from '#dashboard/shell/loading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

/**
 * Shows the open credential resets of members of a vault, each with a way to cancel it, before the
 * page below. The page loads meanwhile, and appears with them, so that it does not move.
 */
export function VaultCredentialResets(props: { readonly vaultId: string; readonly children: ComponentChildren }) {
  const { vaultId, children } = props;
  const line = api.vault[':vaultId']['credential-reset'];
  const { loaded, reload } = useLoaded(
    `credential-resets ${vaultId}`,
    async () => (await good(line.$get({ param: { vaultId } }))).data,
  );
  useDecisions(reload);
  const cancel = (resetId: string) => good(line[':resetId'].cancel.$post({ param: { vaultId, resetId } }));
  return (
    <>
      <Banners loaded={loaded} cancel={cancel} reload={reload} />
      <div hidden={loaded.state === 'loading'}>{children}</div>
    </>
  );
}

/** Shows the open credential resets of the reader. */
export function OwnCredentialResets() {
  const line = api.user.me['credential-reset'];
  const { loaded, reload } = useLoaded('own credential resets', async () => (await good(line.$get())).data);
  useDecisions(reload);
  const cancel = (resetId: string) => good(line[':resetId'].cancel.$post({ param: { resetId } }));
  return <Banners loaded={loaded} cancel={cancel} reload={reload} />;
}

const CANCEL_RESET = {
  heading: 'Cancel this credential reset?',
  warning: 'The person gets no new credentials by it. An operator would have to request another reset.',
  action: 'Cancel credential reset',
};

function Banners(props: {
  readonly loaded: Loaded<readonly CredentialReset[]>;
  readonly cancel: (resetId: string) => Promise<unknown>;
  readonly reload: () => void;
}) {
  const { loaded, cancel, reload } = props;
  const { fault, attempt } = useAttempt(reload);
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
          <button type="button" class="no" onClick={() => confirm(CANCEL_RESET, () => attempt(cancel(id)))}>
            Cancel the reset
          </button>
        </div>
      ))}
      <ErrorText why={loaded.state === 'failed' ? loaded.why : fault} />
      {dialog}
    </>
  );
}
