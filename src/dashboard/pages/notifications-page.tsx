import { useState } from 'preact/hooks';
import { api, good } from '#dashboard/api.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { supportsPush, NotSubscribed, subscribeBrowser } from '#dashboard/push-subscription.ts';
import { Time } from '#dashboard/pages/record-fields.tsx';

/** The browsers in which its reader is told what waits for them, and what has come of it. */
export function NotificationsPage() {
  const { loaded, reload } = useLoaded('notifications', () => good(api['push-subscription'].$get()));
  const [fault, setError] = useState<string | null>(null);
  const attempt = (does: () => Promise<unknown>) => {
    setError(null);
    does().then(reload, (error: unknown) => setError(error instanceof NotSubscribed ? error.message : reasonOf(error)));
  };
  return (
    <main id="main">
      <h1>Notifications</h1>
      <p class="quiet">
        When your approval is wanted, when a transaction is done, and when something arrives. They say what it is, and
        open it; nothing is approved by them.
      </p>
      <LoadedContent loaded={loaded} what="your browsers" again={reload}>
        {({ applicationServerKey, subscriptions }) => (
          <>
            {applicationServerKey === null ? (
              <p>This service sends none: its operator has not set up Web Push.</p>
            ) : !supportsPush() ? (
              <p>This browser takes none from here.</p>
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
                Notify me in this browser
              </button>
            )}
            <ErrorText why={fault} />
            <ul class="rows">
              {subscriptions.map(({ id, service, createdAt }) => (
                <li key={id}>
                  <span>A browser, by {service}</span>
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
                    Stop
                  </button>
                </li>
              ))}
            </ul>
            {subscriptions.length === 0 && <p class="quiet">You are notified nowhere yet.</p>}
          </>
        )}
      </LoadedContent>
    </main>
  );
}
