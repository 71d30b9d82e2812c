/**
 * Shows what the service has sent to this browser, also while no page is open. A browser runs it beside the pages, so it is a file of its own
 * that needs nothing: { kind, title, body, transactionId, vaultId }, encrypted for this browser alone on its way here.
 */

addEventListener('push', (event) => {
  const message = event.data?.json() ?? {};
  const title = String(message.title ?? 'Conclave');
  // A later message about the same transaction takes the place of an earlier one.
  const tag = String(message.transactionId ?? '');
  event.waitUntil(
    registration.showNotification(title, {
      body: String(message.body ?? ''),
      tag,
      icon: '/icon.svg',
      data: {
        page: pageOf(message, tag),
      },
    }),
  );
});

/** The address of the page that shows the subject of a message. */
function pageOf({ kind, vaultId }, subject) {
  if (kind === 'account') return '/#/notifications';
  const vault = `/#/vault/${vaultId}`;
  if (kind === 'policy-change') return `${vault}/policy`;
  return ['vault', 'credential-reset'].includes(kind) ? vault : `/#/transaction/${encodeURIComponent(subject)}`;
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  const { page } = event.notification.data;
  event.waitUntil(
    clients.matchAll({ type: 'window', includeUncontrolled: true }).then(async (windows) => {
      const [open] = windows;
      if (open === undefined) return clients.openWindow(page);
      await open.focus();
      return open.navigate(page).catch(() => clients.openWindow(page));
    }),
  );
});
