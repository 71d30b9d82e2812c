import { useState } from 'preact/hooks';
import type { OwnVault, Person, Token } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { CopyButton } from '#dashboard/forms/copy-button.tsx';
import { isExpired } from '#dashboard/forms/token-expiry.ts';
import type { RequestedToken } from '#dashboard/forms/token-form.tsx';
import { SCOPE_WORDS, TokenForm } from '#dashboard/forms/token-form.tsx';
import { typedValue } from '#dashboard/forms/number-input.ts';
import { ErrorText, LoadedContent, useAttempt, useLoaded } from '#dashboard/shell/loading.tsx';
import { discardDrafts } from '#dashboard/shell/draft.ts';
import { announce } from '#dashboard/shell/announcement.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { LastUse, Time } from '#dashboard/pages/record-fields.tsx';

const disabling = (name: string): Confirmation => ({
  heading: `Disable “${name}”?`,
  warning: 'Every request with the token is refused until you enable it again.',
  action: 'Disable',
});

const rotation = (name: string): Confirmation => ({
  heading: `Rotate “${name}”?`,
  warning: 'The present value is refused after five more minutes, and cannot be restored.',
  action: 'Rotate',
});

const deletion = (name: string): Confirmation => ({
  heading: `Delete “${name}”?`,
  warning: 'Every request with the token is refused from now on. You cannot undo this.',
  action: 'Delete',
});

const LOGOUT: Confirmation = {
  heading: 'Log out everywhere?',
  warning: 'Every session ends, also this one. Your tokens stay.',
  action: 'Log out everywhere',
};

const LOGOUT_WITH_TOKENS: Confirmation = {
  heading: 'Log out everywhere and delete new tokens?',
  warning:
    'Every session ends, also this one. The tokens that were made in sessions of the last day are deleted. You cannot ' +
    'undo this.',
  action: 'Log out and delete',
};

/**
 * Lists the reader's tokens. The value of a new token is shown until the reader leaves the page,
 * and never again.
 */
export function TokensPage({ me, vaults }: { readonly me: Person; readonly vaults: readonly OwnVault[] }) {
  useTitle('API tokens');
  const { loaded, reload } = useLoaded('tokens', async () => (await good(api['personal-access-token'].$get())).tokens);
  const [made, show] = useState<{ readonly name: string; readonly value: string } | null>(null);
  const { fault, fail, attempt } = useAttempt(reload);
  const create = (json: RequestedToken, discard: () => void) => {
    const make = async () => {
      const { token } = await good(api.session['access-token'].$post({ json }));
      show({ name: json.name, value: token });
      announce(`Copy the token ${json.name} now. It is not shown again.`);
      discard();
    };
    attempt(make());
  };
  const line = api['personal-access-token'][':id'];
  const { confirm, dialog } = useConfirmation();
  const setEnabled = ({ id }: Token, enabled: boolean) =>
    attempt(good(line.$patch({ param: { id }, json: { enabled } })));
  const disable = (token: Token) => confirm(disabling(token.name), () => setEnabled(token, false));
  const rotate = ({ id, name }: Token) =>
    confirm(rotation(name), () =>
      attempt(good(line.rotate.$post({ param: { id } })).then(({ token }) => show({ name, value: token }))),
    );
  const remove = ({ id, name }: Token) => confirm(deletion(name), () => attempt(good(line.$delete({ param: { id } }))));
  const logout = (accessTokens: 'keep' | 'end') => {
    const leave = async () => {
      await good(api.sessions.$delete({ query: { accessTokens } }));
      discardDrafts();
      location.replace('/');
    };
    attempt(leave());
  };
  return (
    <main id="main">
      <PageHeading>API tokens</PageHeading>
      <TokenForm me={me} vaults={vaults} create={create} fail={fail} />
      {made !== null && (
        <div class="card">
          <p>Copy the token “{made.name}” now. It is not shown again.</p>
          <code class="secret">{made.value}</code>
          <CopyButton text={made.value} what={`the token ${made.name}`} />
        </div>
      )}
      <ErrorText why={fault} />
      {dialog}
      <LoadedContent loaded={loaded} what="your tokens" again={reload}>
        {(tokens) => (
          <ul class="rows">
            {tokens.map((token) => (
              <li key={token.id}>
                <Name
                  token={token}
                  rename={(name) => attempt(good(line.$patch({ param: { id: token.id }, json: { name } })))}
                />
                <TokenState token={token} />
                <Grant token={token} vaults={vaults} />
                <Dates token={token} />
                <TokenButton
                  action={token.enabled ? 'Disable' : 'Enable'}
                  of={token}
                  act={() => (token.enabled ? disable(token) : setEnabled(token, true))}
                />
                <TokenButton action="Rotate" of={token} act={() => rotate(token)} />
                <TokenButton action="Delete" of={token} act={() => remove(token)} isFinal />
              </li>
            ))}
          </ul>
        )}
      </LoadedContent>
      <h2>Sessions</h2>
      <p class="quiet">Log out everywhere if another person may have used a browser in which you were logged in.</p>
      <p class="doors">
        <button type="button" onClick={() => confirm(LOGOUT, () => logout('keep'))}>
          Log out everywhere
        </button>
        <button type="button" class="no" onClick={() => confirm(LOGOUT_WITH_TOKENS, () => logout('end'))}>
          Log out everywhere and delete new tokens
        </button>
      </p>
    </main>
  );
}

/** A button of one token. Its accessible name has the token: each row has the same buttons. */
function TokenButton(props: {
  readonly action: string;
  readonly of: Token;
  readonly act: () => void;
  readonly isFinal?: boolean;
}) {
  const { action, of: token, act, isFinal = false } = props;
  return (
    <button type="button" class={isFinal ? 'no' : ''} aria-label={`${action} ${token.name}`} onClick={act}>
      {action}
    </button>
  );
}

/** Shows the name of a token, with a form to change it. */
function Name({ token, rename }: { readonly token: Token; readonly rename: (name: string) => void }) {
  const [isOpen, open] = useState(false);
  if (!isOpen)
    return (
      <>
        <strong>{token.name}</strong>
        <TokenButton action="Rename" of={token} act={() => open(true)} />
      </>
    );
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        rename(typedValue(event)('name'));
        open(false);
      }}
    >
      <input
        name="name"
        aria-label="New name"
        defaultValue={token.name}
        required
        maxLength={100}
        autoComplete="off"
        ref={(field) => field?.focus()}
      />
      <button type="submit">Save</button>
    </form>
  );
}

function TokenState({ token }: { readonly token: Token }) {
  if (isExpired(token, Date.now())) return <span class="state bad">Expired</span>;
  return <span class={`state ${token.enabled ? 'good' : 'bad'}`}>{token.enabled ? 'Enabled' : 'Disabled'}</span>;
}

/** Shows what a token gives access to. A vault that the reader has left has no name. */
function Grant({ token, vaults }: { readonly token: Token; readonly vaults: readonly OwnVault[] }) {
  const { scopes, vaultIds, allowedAddresses } = token;
  const nameOf = (id: number) => vaults.find((vault) => vault.id === id)?.name;
  const reach = vaultIds?.map((id) => [nameOf(id), `vault ${id}`].filter(Boolean).join(', ')).join('; ');
  return (
    <span class="quiet">
      {scopes.map((scope) => SCOPE_WORDS[scope]).join(' · ')}
      {' · '}
      {reach ?? 'All vaults'}
      {allowedAddresses !== null && ` · Only from ${allowedAddresses.join(', ')}`}
    </span>
  );
}

function Dates({ token }: { readonly token: Token }) {
  const { expiresAt } = token;
  return (
    <span class="quiet">
      <LastUse of={token} />
      {expiresAt !== null && (
        <>
          , expires <Time iso={new Date(expiresAt * 1000).toISOString()} />
        </>
      )}
    </span>
  );
}
