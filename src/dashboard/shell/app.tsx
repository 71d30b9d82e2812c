import { QueryClientProvider } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { Invitations } from '#dashboard/members/invitations.tsx';
import { NotAMember } from '#dashboard/shell/access.tsx';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good, Refusal } from '#dashboard/api.ts';
import { everyPage } from '#dashboard/lists.ts';
import type { Returned } from '#dashboard/forms/signing-task.ts';
import { ApprovalReturn } from '#dashboard/approval/approval-return.tsx';
import { ApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import type { InboxList } from '#dashboard/shell/inbox.ts';
import { unreadCount, useInbox } from '#dashboard/shell/inbox.ts';
import type { PendingList } from '#dashboard/pending.ts';
import { countText, PendingPosition, usePending } from '#dashboard/pending.ts';
import { People, useOwnVault } from '#dashboard/pages/member-names.tsx';
import { TransactionPage } from '#dashboard/pages/transaction-page.tsx';
import { VaultPage } from '#dashboard/pages/vault-page.tsx';
import { VaultsPage } from '#dashboard/pages/vaults-page.tsx';
import { Announcements } from '#dashboard/shell/announcement.tsx';
import { ConnectionBanner } from '#dashboard/shell/connection-banner.tsx';
import { discardDrafts } from '#dashboard/shell/draft.ts';
import { lazyPage } from '#dashboard/shell/lazy-page.tsx';
import { loginAddress, useHashPath } from '#dashboard/shell/navigation.ts';
import { PageHeading, useTitle, useTitleCount } from '#dashboard/shell/page-heading.tsx';
import { queryClient } from '#dashboard/shell/query-client.ts';
import { whenAlike } from '#dashboard/text.ts';

interface Seen {
  readonly me: Person;
  /** Those that the reader has accepted. */
  readonly vaults: readonly OwnVault[];
  /** The vaults that the reader has not accepted. */
  readonly invitations: readonly OwnVault[];
  readonly approvalOrigins: readonly string[];
}

const MembersPage = lazyPage(async () => (await import('#dashboard/members/members-page.tsx')).MembersPage);
const NotificationsPage = lazyPage(
  async () => (await import('#dashboard/pages/notifications-page.tsx')).NotificationsPage,
);
const PolicyPage = lazyPage(async () => (await import('#dashboard/pages/policy-page.tsx')).PolicyPage);
const ReceivePage = lazyPage(async () => (await import('#dashboard/pages/receive-page.tsx')).ReceivePage);
const RulesPage = lazyPage(async () => (await import('#dashboard/pages/rules-page.tsx')).RulesPage);
const TokensPage = lazyPage(async () => (await import('#dashboard/pages/tokens-page.tsx')).TokensPage);
const TransferPage = lazyPage(async () => (await import('#dashboard/pages/transfer-page.tsx')).TransferPage);

/** Shows the dashboard. Its parts outlive an error, a lost connection and an ended session. */
export function App({ returned }: { readonly returned: Returned | null }) {
  return (
    <QueryClientProvider client={queryClient}>
      <Router hook={useHashPath}>
        <Announcements />
        <Shell returned={returned} />
      </Router>
    </QueryClientProvider>
  );
}

/** Shows the pages of the session's user, or the login page. */
function Shell({ returned }: { readonly returned: Returned | null }) {
  const [path] = useLocation();
  const untaken = useRef(returned);
  const take = () => {
    const { current } = untaken;
    untaken.current = null;
    return current;
  };
  const known = useRef<Person | null>(null);
  const { loaded, reload } = useLoaded<Seen | null>('me', async () => {
    try {
      const [me, pages] = await Promise.all([
        good(api.user.me.$get()),
        everyPage((query) => api.session.vaults.$get({ query })),
      ]);
      // Another person has logged in, in another tab. Nothing of the person before is shown.
      if (known.current !== null && known.current.id !== me.id) queryClient.removeQueries({ predicate: isOfPerson });
      known.current = me;
      const listed = pages.flatMap(({ data }) => data);
      return {
        me,
        vaults: listed.filter(({ membership }) => membership === 'accepted'),
        invitations: listed.filter(({ membership }) => membership !== 'accepted'),
        approvalOrigins: pages[0]?.approvalOrigins ?? [],
      };
    } catch (error) {
      if (known.current === null && error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  });
  const [, renderAgain] = useState(0);
  useEffect(() => whenAlike(() => renderAgain((times) => times + 1)), []);
  const opened = useRef(path);
  useEffect(() => {
    // A vault may have been added, or its keys may be ready.
    if (path === '/' && opened.current !== path) reload();
    opened.current = path;
  }, [path]);
  return (
    <>
      <LoadedContent loaded={loaded} what="your vaults" again={reload}>
        {(seen) =>
          seen === null ? (
            <Welcome />
          ) : (
            <People key={seen.me.id} me={seen.me} vaults={seen.vaults}>
              <Entered seen={seen} path={path} take={take} reload={reload} />
            </People>
          )
        }
      </LoadedContent>
      <ConnectionBanner isLoggedIn={known.current !== null} />
    </>
  );
}

function isOfPerson({ queryKey }: { readonly queryKey: readonly unknown[] }): boolean {
  return queryKey[0] !== 'me';
}

/** Shows the menu and the page to a person who is logged in. */
function Entered(props: {
  readonly seen: Seen;
  readonly path: string;
  readonly take: () => Returned | null;
  readonly reload: () => void;
}) {
  const { seen, path, take, reload } = props;
  const pending = usePending({ path, vaults: seen.vaults, userId: seen.me.id });
  const count = countText(pending.loaded);
  const inbox = useInbox(path, pending.position);
  const unread = unreadCount(inbox.loaded);
  useTitleCount(count);
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
          <a href="#/notifications">
            Notifications
            {unread !== null && (
              <span class="badge unread" role="img" aria-label={`${unread} unread`}>
                {unread}
              </span>
            )}
          </a>
        </nav>
        <span class="quiet">{seen.me.name}</span>
        <button type="button" onClick={() => void leave()}>
          Log out
        </button>
      </header>
      <ApprovalOrigins.Provider value={seen.approvalOrigins}>
        <ApprovalReturn take={take} path={path} me={seen.me} origins={seen.approvalOrigins}>
          <PendingPosition.Provider value={pending.position}>
            <Page seen={seen} pending={pending} inbox={inbox} reload={reload} />
          </PendingPosition.Provider>
        </ApprovalReturn>
      </ApprovalOrigins.Provider>
    </>
  );
}

/** A page is a new one when the vault or the transaction of its path is another. */
function Page(props: {
  readonly seen: Seen;
  readonly pending: PendingList;
  readonly inbox: InboxList;
  readonly reload: () => void;
}) {
  const { seen, pending, inbox, reload } = props;
  const { me, vaults, invitations } = seen;
  return (
    <Switch>
      <Route path="/">
        <VaultsPage vaults={vaults} pending={pending}>
          <Invitations invitations={invitations} vaults={vaults} reload={reload} />
        </VaultsPage>
      </Route>
      <Route path="/tokens">
        <TokensPage me={me} vaults={vaults} />
      </Route>
      <Route path="/notifications">
        <NotificationsPage inbox={inbox} vaults={vaults} />
      </Route>
      <Route path="/vault/:id">{({ id }) => <OfVault id={id}>{(vault) => <VaultPage vault={vault} />}</OfVault>}</Route>
      <Route path="/vault/:id/transfer">
        {({ id }) => <OfVault id={id}>{(vault) => <TransferPage vault={vault} me={me} />}</OfVault>}
      </Route>
      <Route path="/vault/:id/receive">
        {({ id }) => <OfVault id={id}>{(vault) => <ReceivePage vault={vault} />}</OfVault>}
      </Route>
      <Route path="/vault/:id/members">
        {({ id }) => <OfVault id={id}>{(vault) => <MembersPage vault={vault} me={me} />}</OfVault>}
      </Route>
      <Route path="/vault/:id/policy">
        {({ id }) => <OfVault id={id}>{(vault) => <PolicyPage vault={vault} me={me} />}</OfVault>}
      </Route>
      <Route path="/vault/:id/rules">
        {({ id }) => <OfVault id={id}>{(vault) => <RulesPage vault={vault} me={me} />}</OfVault>}
      </Route>
      <Route path="/transaction/:id">
        {({ id }) => <TransactionPage key={id} txId={id} vaults={vaults} me={me} />}
      </Route>
      <Route>
        <NoPage />
      </Route>
    </Switch>
  );
}

/** Shows a page of a vault to its members. */
function OfVault(props: { readonly id: string; readonly children: (vault: OwnVault) => ComponentChildren }) {
  const { id, children } = props;
  const vault = useOwnVault(id);
  if (vault === null) return <NotAMember key={id} vaultId={id} />;
  return <Fragment key={id}>{children(vault)}</Fragment>;
}

function NoPage() {
  useTitle('Page not found');
  return (
    <main id="main">
      <PageHeading>Page not found</PageHeading>
      <p>
        <a href="#/">Back to your vaults</a>
      </p>
    </main>
  );
}

function Welcome() {
  return (
    <main id="main" class="welcome">
      <h1>Conclave</h1>
      <p>Vaults with several signers. No complete key exists in one place.</p>
      <a class="button" href={loginAddress()}>
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

/** Ends the session. The page starts anew, so that nothing of the person remains in it. */
async function leave(): Promise<void> {
  try {
    await good(api.session.$delete());
  } catch (error) {
    // The session goes on, and the banner says that the service does not answer.
    if (!(error instanceof Refusal && error.status === 401)) return;
  }
  discardDrafts();
  location.replace('/');
}
