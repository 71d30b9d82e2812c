import { useState } from 'preact/hooks';
import type { Person, Token } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { CopyButton } from '#dashboard/forms/copy-button.tsx';
import { isExpired, typedExpiry } from '#dashboard/forms/token-expiry.ts';
import { typedValue } from '#dashboard/forms/number-input.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { announce } from '#dashboard/shell/announcement.tsx';
import { useTextDraft } from '#dashboard/shell/draft.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';

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

/**
 * Lists the reader's tokens. The value of a new token is shown until the reader leaves the page,
 * and never again.
 */
export function TokensPage({ me }: { readonly me: Person }) {
  useTitle('API tokens');
  const { draft, write, discard } = useTextDraft(`${me.id} token`, { name: '', expires: '' });
  const { loaded, reload } = useLoaded('tokens', async () => (await good(api['personal-access-token'].$get())).tokens);
  const [made, show] = useState<{ readonly name: string; readonly value: string } | null>(null);
  const [fault, setError] = useState<string | null>(null);
  const attempt = (response: Promise<unknown>) => {
    setError(null);
    response.then(reload, (error: unknown) => setError(reasonOf(error)));
  };
  const create = (event: SubmitEvent) => {
    event.preventDefault();
    const { name, expires } = draft;
    const expiry = typedExpiry(expires, Date.now());
    if ('fault' in expiry) {
      setError(expiry.fault);
      return;
    }
    const json = { name, expiresAt: expiry.expiresAt };
    const make = async () => {
      const { token } = await good(api.session['access-token'].$post({ json }));
      show({ name, value: token });
      announce(`Copy the token ${name} now. It is not shown again.`);
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
  return (
    <main id="main">
      <PageHeading>API tokens</PageHeading>
      <form class="card" onSubmit={create}>
        <h2>New API token</h2>
        <label>
          Name{' '}
          <input
            name="name"
            required
            maxLength={100}
            autoComplete="off"
            value={draft.name}
            onInput={({ currentTarget }) => write({ name: currentTarget.value })}
          />
        </label>
        <label>
          Expiry (optional){' '}
          <input
            name="expires"
            type="date"
            value={draft.expires}
            onInput={({ currentTarget }) => write({ expires: currentTarget.value })}
          />
        </label>
        <button type="submit">Create</button>
      </form>
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

function Dates({ token }: { readonly token: Token }) {
  const { createdAt, lastUsedAt, expiresAt } = token;
  return (
    <span class="quiet">
      Created <Time iso={createdAt} />,{' '}
      {lastUsedAt === null ? (
        'never used'
      ) : (
        <>
          last used <Time iso={lastUsedAt} />
        </>
      )}
      {expiresAt !== null && (
        <>
          , expires <Time iso={new Date(expiresAt * 1000).toISOString()} />
        </>
      )}
    </span>
  );
}
