import type { OwnVault, Person, Token } from '#dashboard/api.ts';
import { typedExpiry } from '#dashboard/forms/token-expiry.ts';
import { useTextDraft } from '#dashboard/shell/draft.ts';

type TokenScope = Token['scopes'][number];

/** What a scope permits, in the words of the form and of the list. */
export const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  read: 'Read',
  create: 'Create and cancel',
  approve: 'Approve and reject',
  'manage-tokens': 'Manage your other tokens',
};

const SCOPES: readonly TokenScope[] = ['read', 'create', 'approve', 'manage-tokens'];

/** The token that a person requests. */
export interface RequestedToken {
  readonly name: string;
  readonly expiresAt: number | null;
  readonly scopes: TokenScope[];
  readonly vaultIds: number[] | null;
  readonly allowedAddresses: string[] | null;
}

/** A token that approves is as strong as its owner in a vault of token mode, so no default does. */
const EMPTY = { name: '', expires: '', scopes: 'read create', vaults: '', addresses: '' };

/**
 * Shows the form of a new token.
 *
 * @param props.create requests the token; the draft stays until it succeeds
 */
export function TokenForm(props: {
  readonly me: Person;
  readonly vaults: readonly OwnVault[];
  readonly create: (token: RequestedToken, discard: () => void) => void;
  readonly fail: (fault: string) => void;
}) {
  const { me, vaults, create, fail } = props;
  const { draft, write, discard } = useTextDraft(`${me.id} token`, EMPTY);
  const { name, expires, addresses } = draft;
  const scopes = SCOPES.filter((scope) => wordsIn(draft.scopes).includes(scope));
  const chosen = wordsIn(draft.vaults);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const expiry = typedExpiry(expires, Date.now());
    if ('fault' in expiry) return fail(expiry.fault);
    if (scopes.length === 0) return fail('Access: Select at least one.');
    const vaultIds = vaults.filter(({ id }) => chosen.includes(String(id))).map(({ id }) => id);
    const networks = [...wordsIn(addresses)];
    create(
      {
        name,
        ...expiry,
        scopes,
        vaultIds: vaultIds.length === 0 ? null : vaultIds,
        allowedAddresses: networks.length === 0 ? null : networks,
      },
      discard,
    );
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>New API token</h2>
      <label>
        Name{' '}
        <input
          name="name"
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onInput={({ currentTarget }) => write({ name: currentTarget.value })}
        />
      </label>
      <label>
        Expiry (optional){' '}
        <input
          name="expires"
          type="date"
          value={expires}
          onInput={({ currentTarget }) => write({ expires: currentTarget.value })}
        />
      </label>
      <fieldset>
        <legend>Access</legend>
        {SCOPES.map((scope) => (
          <Choice
            key={scope}
            label={SCOPE_WORDS[scope]}
            isChosen={scopes.includes(scope)}
            choose={(isChosen) => write({ scopes: changed(scopes, scope, isChosen) })}
          />
        ))}
      </fieldset>
      <details open={chosen.length > 0 || addresses !== ''}>
        <summary>Limit to vaults or addresses</summary>
        <fieldset>
          <legend>Vaults (all when none is selected)</legend>
          {vaults.map(({ id, name: vaultName }) => (
            <Choice
              key={id}
              label={`${vaultName} (vault ${id})`}
              isChosen={chosen.includes(String(id))}
              choose={(isChosen) => write({ vaults: changed(chosen, String(id), isChosen) })}
            />
          ))}
        </fieldset>
        <label>
          Addresses of the client (optional), such as 192.0.2.0/24 or 2001:db8::/32, separated by spaces{' '}
          <input
            name="addresses"
            autoComplete="off"
            value={addresses}
            onInput={({ currentTarget }) => write({ addresses: currentTarget.value })}
          />
        </label>
      </details>
      <button type="submit">Create</button>
    </form>
  );
}

function Choice(props: {
  readonly label: string;
  readonly isChosen: boolean;
  readonly choose: (isChosen: boolean) => void;
}) {
  const { label, isChosen, choose } = props;
  return (
    <label class="choice">
      <input type="checkbox" checked={isChosen} onChange={({ currentTarget }) => choose(currentTarget.checked)} />
      {label}
    </label>
  );
}

/** Returns the texts between spaces and commas. */
function wordsIn(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

function changed(words: readonly string[], word: string, isIn: boolean): string {
  return [...words.filter((other) => other !== word), ...(isIn ? [word] : [])].join(' ');
}
