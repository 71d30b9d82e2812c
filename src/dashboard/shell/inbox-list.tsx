import { useEffect, useRef } from 'preact/hooks';
import { visibleText } from '#domain/visible-text.ts';
import type { OwnVault } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { Inbox, InboxItem, InboxList } from '#dashboard/shell/inbox.ts';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { ErrorText, LoadedContent, useAttempt } from '#dashboard/shell/loading.tsx';

/** Shows the notifications of the reader, and marks as read what was shown. */
export function InboxSection(props: { readonly inbox: InboxList; readonly vaults: readonly OwnVault[] }) {
  const { inbox, vaults } = props;
  return (
    <section aria-labelledby="inbox">
      <h2 id="inbox">Inbox</h2>
      <p class="quiet">Changes of the policy, the members and their access, and of your access tokens.</p>
      <LoadedContent loaded={inbox.loaded} what="your inbox" again={inbox.reload}>
        {(loaded) => <InboxRows loaded={loaded} vaults={vaults} inbox={inbox} />}
      </LoadedContent>
    </section>
  );
}

function InboxRows(props: { readonly loaded: Inbox; readonly vaults: readonly OwnVault[]; readonly inbox: InboxList }) {
  const { loaded, vaults, inbox } = props;
  const { items, hasMore, unread } = loaded;
  const { fault, attempt } = useAttempt(inbox.markRead);
  // What was unread when the page opened stays marked while the reader is on the page.
  const fresh = useRef(new Set<string>());
  for (const item of items) if (item.readAt === null) fresh.current.add(nameOf(item));
  const newest = items[0];
  useEffect(() => {
    if (unread > 0 && newest !== undefined) {
      attempt(good(api.user.me.notifications.read.$post({ json: { until: newest.createdAt } })));
    }
  }, [unread, newest?.createdAt]);
  return (
    <>
      <ErrorText why={fault} />
      {items.length === 0 && <p class="quiet">Your inbox is empty.</p>}
      <ul class="rows">
        {items.map((item) => (
          <InboxRow key={item.id} item={item} vaults={vaults} isNew={fresh.current.has(nameOf(item))} />
        ))}
      </ul>
      {hasMore && (
        <button type="button" onClick={inbox.more}>
          Show older notifications
        </button>
      )}
    </>
  );
}

function nameOf({ id, createdAt }: InboxItem): string {
  return `${id} ${createdAt}`;
}

function InboxRow(props: { readonly item: InboxItem; readonly vaults: readonly OwnVault[]; readonly isNew: boolean }) {
  const { item, vaults, isNew } = props;
  const page = pageOf(item, vaults);
  const title = visibleText(item.title);
  return (
    <li>
      <span>
        {isNew && <strong class="badge">new</strong>} {page === null ? title : <a href={page}>{title}</a>}
      </span>
      <span class="quiet">
        <Time iso={item.createdAt} />
      </span>
      <p>{visibleText(item.body)}</p>
    </li>
  );
}

/** Returns the address of the page that shows the subject; null when the reader is no member. */
function pageOf({ kind, vaultId }: InboxItem, vaults: readonly OwnVault[]): string | null {
  if (kind === 'account') return '#/tokens';
  const vault = vaults.find(({ id }) => id === vaultId);
  if (vault === undefined) return null;
  return kind === 'policy-change' ? `#/vault/${vault.id}/policy` : `#/vault/${vault.id}`;
}
