import type { InferResponseType } from 'hono/client';
import { useState } from 'preact/hooks';
import type { OwnVault } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { InboxList } from '#dashboard/shell/inbox.ts';
import { InboxSection } from '#dashboard/shell/inbox-list.tsx';
import type { Loaded } from '#dashboard/shell/loading.tsx';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { supportsPush, NotSubscribed, subscribeBrowser } from '#dashboard/push-subscription.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';

type Subscriptions = InferResponseType<(typeof api)['push-subscription']['$get']>;

/** Shows the inbox of the reader, and the browsers that receive notifications. */
export function NotificationsPage(props: { readonly inbox: InboxList; readonly vaults: readonly OwnVault[] }) {
  useTitle('Notifications');
  const { loaded, reload } = useLoaded('notifications', () => good(api['push-subscription'].$get()));
  return (
    <main id="main">
      <PageHeading>Notifications</PageHeading>
      <InboxSection inbox={props.inbox} vaults={props.vaults} />
      {/* Below a list that is loading, it would move. */}
      {props.inbox.loaded.state !== 'loading' && <Browsers loaded={loaded} reload={reload} />}
    </main>
  );
}

/** Lists the browsers of the reader that receive notifications, with what turns them on and off. */
function Browsers({ loaded, reload }: { readonly loaded: Loaded<Subscriptions>; readonly reload: () => void }) {
  const [fault, setError] = useState<string | null>(null);
  const attempt = (does: () => Promise<unknown>) => {
    setError(null);
    does().then(reload, (error: unknown) => setError(error instanceof NotSubscribed ? error.message : reasonOf(error)));
  };
  return (
    <>
      <h2>Browsers</h2>
      <p class="quiet">
        You are notified when your approval is required, when a transaction completes, when a payment arrives, and when
        the policy, the members or their access change. A notification opens the page of its subject. It does not
        approve anything.
      </p>
      <LoadedContent loaded={loaded} what="your subscriptions" again={reload}>
        {({ applicationServerKey, subscriptions }) => (
          <>
            {applicationServerKey === null ? (
              <p>Notifications are not available. The operator has not set up Web Push.</p>
            ) : !supportsPush() ? (
              <p>This browser does not support notifications.</p>
            ) : (
              <button
                type="button"
                class="yes"
                onClick={() =>
                  attempt(async () => {
                    const json = await subscribeBrowser(applicationServerKey);
                    return good(api['push-subscription'].$post({ json }));
                  })
                }
              >
                Enable notifications
              </button>
            )}
            <ErrorText why={fault} />
            <ul class="rows">
              {subscriptions.map(({ id, service, createdAt }) => (
                <li key={id}>
                  <span>Browser ({service})</span>
                  <span class="quiet">
                    since <Time iso={createdAt} />
                  </span>
                  <button
                    type="button"
                    onClick={() =>
                      attempt(() =>
                        good(api['push-subscription'][':subscriptionId'].$delete({ param: { subscriptionId: id } })),
                      )
                    }
                  >
                    Turn off
                  </button>
                </li>
              ))}
            </ul>
            {subscriptions.length === 0 && <p class="quiet">Notifications are off.</p>}
          </>
        )}
      </LoadedContent>
    </>
  );
}
