import { useEffect, useRef, useState } from 'preact/hooks';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good, Refusal, whenLoggedOut } from '#dashboard/api.ts';
import { everyPage } from '#dashboard/lists.ts';
import type { Returned } from '#dashboard/forms/signing-task.ts';
import { ApprovalReturn } from '#dashboard/approval/approval-return.tsx';
import { ApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import type { PendingList } from '#dashboard/pending.ts';
import { countText, usePending } from '#dashboard/pending.ts';
import { NotificationsPage } from '#dashboard/pages/notifications-page.tsx';
import { People } from '#dashboard/pages/member-names.tsx';
import { PolicyPage } from '#dashboard/pages/policy-page.tsx';
import { ReceivePage } from '#dashboard/pages/receive-page.tsx';
import { RulesPage } from '#dashboard/pages/rules-page.tsx';
import { TokensPage } from '#dashboard/pages/tokens-page.tsx';
import { TransactionPage } from '#dashboard/pages/transaction-page.tsx';
import { TransferPage } from '#dashboard/pages/transfer-page.tsx';
import { VaultPage } from '#dashboard/pages/vault-page.tsx';
import { VaultsPage } from '#dashboard/pages/vaults-page.tsx';

interface Seen {
  readonly me: Person;
  readonly vaults: readonly OwnVault[];
  readonly approvalOrigins: readonly string[];
}

const TITLE = 'Conclave';

/** Shows the pages of the session's user, or the login page. */
export function App({ returned }: { readonly returned: Returned | null }) {
  const path = usePath();
  const untaken = useRef(returned);
  const take = () => {
    const { current } = untaken;
    untaken.current = null;
    return current;
  };
  const { loaded, reload, change } = useLoaded<Seen | null>('me', async () => {
    try {
      const me = await good(api.user.me.$get());
      const pages = await everyPage((query) => api.session.vaults.$get({ query }));
      const approvalOrigins = pages[0]?.approvalOrigins ?? [];
      return { me, vaults: pages.flatMap(({ data }) => data), approvalOrigins };
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  });
  useEffect(() => whenLoggedOut(() => change(() => null)), []);
  useEffect(() => {
    if (path === '/' && loaded.state === 'ready') reload();
  }, [path]);
  return (
    <LoadedContent loaded={loaded} what="your vaults" again={reload}>
      {(seen) =>
        seen === null ? (
          <Welcome path={path} />
        ) : (
          <People me={seen.me} vaults={seen.vaults}>
            <Entered seen={seen} path={path} take={take} reload={reload} />
          </People>
        )
      }
    </LoadedContent>
  );
}

/** Shows the menu and the page to a person who is logged in. */
function Entered(props: {
  readonly seen: Seen;
  readonly path: string;
  readonly take: () => Returned | null;
  readonly reload: () => void;
}) {
  const { seen, path, take, reload } = props;
  const pending = usePending(path);
  const count = countText(pending.loaded);
  useEffect(() => {
    document.title = count === null ? TITLE : `(${count}) ${TITLE}`;
    return () => void (document.title = TITLE);
  }, [count]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header>
        <nav aria-label="Pages">
          <a href="#/">
            Vaults
            {count !== null && (
              <span class="badge" role="img" aria-label={`${count} waiting for your decision`}>
                {count}
              </span>
            )}
          </a>
          <a href="#/tokens">API tokens</a>
          <a href="#/notifications">Notifications</a>
        </nav>
        <span class="quiet">{seen.me.name}</span>
        <button type="button" onClick={() => void leave(reload)}>
          Log out
        </button>
      </header>
      <ApprovalOrigins.Provider value={seen.approvalOrigins}>
        <ApprovalReturn take={take} path={path} me={seen.me} origins={seen.approvalOrigins}>
          <Page path={path} vaults={seen.vaults} me={seen.me} pending={pending} />
        </ApprovalReturn>
      </ApprovalOrigins.Provider>
    </>
  );
}

/** Returns the path after the `#`. The paths before it belong to the API. */
function usePath(): string {
  const [path, set] = useState(pathNow());
  useEffect(() => {
    const follow = () => set(pathNow());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return path;
}

function pathNow(): string {
  return location.hash.replace(/^#/, '') || '/';
}

function Page(props: {
  readonly path: string;
  readonly vaults: readonly OwnVault[];
  readonly me: Person;
  readonly pending: PendingList;
}) {
  const { path, vaults, me, pending } = props;
  const [, kind, id, part] = path.split('/');
  if (kind === '') return <VaultsPage vaults={vaults} pending={pending} />;
  const vault = kind === 'vault' ? vaults.find((one) => String(one.id) === id) : undefined;
  if (vault !== undefined && part === 'transfer') return <TransferPage key={id} vault={vault} />;
  if (vault !== undefined && part === 'policy') return <PolicyPage key={id} vault={vault} me={me} />;
  if (vault !== undefined && part === 'rules') return <RulesPage key={id} vault={vault} />;
  if (vault !== undefined && part === 'receive') return <ReceivePage vault={vault} />;
  if (kind === 'vault' && id !== undefined) {
    const chains = vault?.wallets.map(({ chain }) => chain) ?? [];
    return <VaultPage key={id} vaultId={id} name={vault?.name ?? `Vault ${id}`} chains={chains} />;
  }
  if (kind === 'transaction' && id !== undefined) return <TransactionPage key={id} txId={id} vaults={vaults} me={me} />;
  if (kind === 'tokens') return <TokensPage />;
  if (kind === 'notifications') return <NotificationsPage />;
  return (
    <main id="main">
      <h1>Page not found</h1>
      <p>
        <a href="#/">Back to your vaults</a>
      </p>
    </main>
  );
}

function Welcome({ path }: { readonly path: string }) {
  return (
    <main id="main" class="welcome">
      <h1>Conclave</h1>
      <p>Vaults with several signers. No complete key exists in one place.</p>
      <a class="button" href={`/login?to=${encodeURIComponent(`/#${path}`)}`}>
        Log in
      </a>
    </main>
  );
}

/** Focuses the content. The link must not change the hash, because the hash selects the page. */
function skip(event: Event): void {
  event.preventDefault();
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

async function leave(reload: () => void): Promise<void> {
  await good(api.session.$delete()).catch(() => null);
  reload();
}
