import { useState } from 'preact/hooks';
import { mayIn } from '#dashboard/shell/access.tsx';
import type { Credential, Member, OwnVault, Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { Hash, LastUse } from '#dashboard/pages/record-fields.tsx';
import { ErrorText, LoadedContent, useAttempt, useLoaded } from '#dashboard/shell/loading.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';

const disabling = (name: string): Confirmation => ({
  heading: `Disable ${name} in this vault?`,
  warning:
    'The vault refuses every request of this person. Approvals and rejections of the person no longer count on what is ' +
    'undecided, and do not come back.',
  action: 'Disable',
});

const ending = (what: string): Confirmation => ({
  heading: `End ${what} in this vault?`,
  warning: 'The vault refuses it from now on. You cannot undo this.',
  action: 'End',
});

/** Lists the members of a vault. An admin stops a member here, or one credential of a member. */
export function MembersPage({ vault, me }: { readonly vault: OwnVault; readonly me: Person }) {
  useTitle(`Members · ${vault.name}`);
  const vaultId = String(vault.id);
  const line = api.vault[':vaultId'].member;
  const { loaded, reload } = useLoaded(
    `members ${vaultId}`,
    async () => (await good(line.$get({ param: { vaultId } }))).data,
  );
  const isAdmin = mayIn(vault, 'administer');
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vaultId}`}>{vault.name}</a>
      </p>
      <PageHeading>Members</PageHeading>
      <p class="quiet">
        Signers change by a policy change, and an operator sets the other roles.
        {isAdmin && ' Disable a member at once if a device or a credential of the member is stolen.'}
      </p>
      <LoadedContent loaded={loaded} what="the members" again={reload}>
        {(members) => (
          <ul class="rows">
            {members.map((member) => (
              <MemberRow
                key={member.userId}
                member={member}
                vaultId={vaultId}
                isManaged={isAdmin && member.userId !== me.id}
                reload={reload}
              />
            ))}
          </ul>
        )}
      </LoadedContent>
    </main>
  );
}

function MemberRow(props: {
  readonly member: Member;
  readonly vaultId: string;
  /** The reader can stop this member. */
  readonly isManaged: boolean;
  readonly reload: () => void;
}) {
  const { member, vaultId, isManaged, reload } = props;
  const { userId, roles, disabled, disabledBy } = member;
  const name = nameOf(member);
  const { fault, attempt } = useAttempt(reload);
  const { confirm, dialog } = useConfirmation();
  const line = api.vault[':vaultId'].member[':userId'];
  const param = { vaultId, userId };
  const disable = () => confirm(disabling(name), () => attempt(good(line.disable.$post({ param }))));
  return (
    <li>
      <strong>{name}</strong>
      <span>{roles.join(', ')}</span>
      <span class={`state ${disabled ? 'bad' : 'good'}`}>{disabled ? 'Disabled' : 'Enabled'}</span>
      {disabledBy !== null && (
        <span class="quiet">
          {disabledBy === 'operator' ? 'By an operator, who can enable the person again' : 'By an admin of this vault'}
        </span>
      )}
      <Hash value={userId} />
      {isManaged && disabledBy === null && (
        <button type="button" class="no" aria-label={`Disable ${name}`} onClick={disable}>
          Disable
        </button>
      )}
      {isManaged && disabledBy === 'admin' && (
        <button type="button" aria-label={`Enable ${name}`} onClick={() => attempt(good(line.enable.$post({ param })))}>
          Enable
        </button>
      )}
      <ErrorText why={fault} />
      {dialog}
      {isManaged && <Credentials vaultId={vaultId} member={member} />}
    </li>
  );
}

/** The credentials are loaded when an admin opens them, because sessions have a rate limit. */
function Credentials({ vaultId, member }: { readonly vaultId: string; readonly member: Member }) {
  const [isOpen, open] = useState(false);
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Tokens and sessions of {nameOf(member)}</summary>
      {isOpen && <CredentialList vaultId={vaultId} userId={member.userId} />}
    </details>
  );
}

function CredentialList({ vaultId, userId }: { readonly vaultId: string; readonly userId: string }) {
  const { confirm, dialog } = useConfirmation();
  const line = api.vault[':vaultId'].member[':userId'].credential;
  const { loaded, reload } = useLoaded(
    `credentials ${vaultId} ${userId}`,
    async () => (await good(line.$get({ param: { vaultId, userId } }))).data,
  );
  const { fault, attempt } = useAttempt(reload);
  const end = (credential: Credential) =>
    confirm(ending(whatOf(credential)), () =>
      attempt(good(line[':id'].$delete({ param: { vaultId, userId, id: credential.id } }))),
    );
  return (
    <LoadedContent loaded={loaded} what="tokens and sessions" again={reload}>
      {(credentials) => (
        <>
          {credentials.length === 0 && <p class="quiet">None reaches this vault.</p>}
          <ul class="rows">
            {credentials.map((credential) => (
              <li key={credential.id}>
                <span>{whatOf(credential)}</span>
                <span class="quiet">
                  <LastUse of={credential} />
                </span>
                {credential.enabled ? (
                  <button
                    type="button"
                    class="no"
                    aria-label={`End ${whatOf(credential)}`}
                    onClick={() => end(credential)}
                  >
                    End
                  </button>
                ) : (
                  <span class="state bad">Refused</span>
                )}
              </li>
            ))}
          </ul>
          <ErrorText why={fault} />
          {dialog}
        </>
      )}
    </LoadedContent>
  );
}

/** The owner of a token chose its name. */
function whatOf({ kind, name, id }: Credential): string {
  return kind === 'session' ? `session ${id}` : `token “${name ?? ''}” ${id}`;
}

function nameOf({ name, userId }: Member): string {
  return name === null ? userId : `“${name}”`;
}
