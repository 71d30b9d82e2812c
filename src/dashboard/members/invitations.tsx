import type { OwnVault } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { ErrorText, useAttempt } from '#dashboard/shell/loading.tsx';
import { approvalsText } from '#dashboard/text.ts';

const accepting = ({ name, id }: OwnVault): Confirmation => ({
  heading: `Accept “${name}”, number ${id}?`,
  warning:
    'You then see its addresses, and your approvals count in it. Accept it only if your organisation announced it to ' +
    'you: the holder of a stolen service key can create a vault with any name.',
  action: 'Accept',
});

/**
 * Shows the vaults that the reader has not accepted, apart from the own ones. The thief of a
 * service key can have created them, so they have no address and no page.
 */
export function Invitations(props: {
  readonly invitations: readonly OwnVault[];
  readonly vaults: readonly OwnVault[];
  readonly reload: () => void;
}) {
  const { invitations, vaults, reload } = props;
  const open = invitations.filter(({ membership }) => membership === 'invited');
  const declined = invitations.filter(({ membership }) => membership === 'declined');
  const rows = (list: readonly OwnVault[]) => (
    <ul class="rows">
      {list.map((vault) => (
        <InvitationRow key={vault.id} vault={vault} vaults={vaults} reload={reload} />
      ))}
    </ul>
  );
  return (
    <>
      {open.length > 0 && (
        <section aria-labelledby="invitations">
          <h2 id="invitations">Invitations</h2>
          {rows(open)}
        </section>
      )}
      {declined.length > 0 && (
        <details>
          <summary>Vaults that you declined ({declined.length})</summary>
          {rows(declined)}
        </details>
      )}
    </>
  );
}

function InvitationRow(props: {
  readonly vault: OwnVault;
  readonly vaults: readonly OwnVault[];
  readonly reload: () => void;
}) {
  const { vault, vaults, reload } = props;
  const { id, name, roles, threshold, members, membership } = vault;
  const { fault, attempt } = useAttempt(reload);
  const { confirm, dialog } = useConfirmation();
  const line = api.vault[':vaultId'];
  const param = { vaultId: String(id) };
  const label = `“${name}”, number ${id}`;
  return (
    <li>
      <strong>{label}</strong>
      <span>
        Your roles: {roles.join(', ')}. {approvalsText(threshold)} required.
      </span>
      <p class="details quiet">Members: {members.map(({ name: member }) => `“${member}”`).join(', ')}</p>
      <Namesakes vault={vault} vaults={vaults} />
      <button
        type="button"
        aria-label={`Accept ${label}`}
        onClick={() => confirm(accepting(vault), () => attempt(good(line.accept.$post({ param }))))}
      >
        Accept
      </button>
      {membership === 'invited' && (
        <button
          type="button"
          class="no"
          aria-label={`Decline ${label}`}
          onClick={() => attempt(good(line.decline.$post({ param })))}
        >
          Decline
        </button>
      )}
      <ErrorText why={fault} />
      {dialog}
    </li>
  );
}

/** Shows which of the reader's vaults have the same name as this one, or one that looks like it. */
export function Namesakes({ vault, vaults }: { readonly vault: OwnVault; readonly vaults: readonly OwnVault[] }) {
  const others = vaults.filter(({ id }) => vault.namesakes.includes(id));
  if (others.length === 0) return null;
  const names = others.map(({ name, id }) => `“${name}”, number ${id}`).join('; ');
  return (
    <p class="problem">
      This is number {vault.id}. You have another vault with this name, or with one that looks like it: {names}
    </p>
  );
}
