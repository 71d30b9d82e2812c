/** Notifications in this browser. A service worker shows them, also when no page is open. */

/** The path never changes, because the browser keeps it and loads newer versions from it. */
const WORKER = '/notify.js';

/** The browser or the person refused the subscription. The message is for the person. */
export class NotSubscribed extends Error {}

export function supportsPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

/**
 * Requests permission and subscribes this browser at its push service. Returns what the API needs
 * for it. Throws `NotSubscribed` when the person declines or the push service does not answer.
 */
export async function subscribeBrowser(applicationServerKey: string) {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new NotSubscribed('Notifications are not allowed in this browser.');
  try {
    await navigator.serviceWorker.register(workerUrl());
    const { pushManager } = await navigator.serviceWorker.ready;
    const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
    const { endpoint, keys } = subscription.toJSON();
    const { p256dh, auth } = keys ?? {};
    if (endpoint === undefined || p256dh === undefined || auth === undefined) throw new Error('no subscription');
    return { endpoint, keys: { p256dh, auth } };
  } catch {
    throw new NotSubscribed('The push service of this browser does not respond. Try again later.');
  }
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

let trusted: ReturnType<TrustedTypes['createPolicy']> | null = null;

/**
 * Returns the URL of the worker. The content security policy allows scripts by one rule, which
 * names one URL.
 */
function workerUrl(): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return WORKER;
  trusted ??= trustedTypes.createPolicy('notify', {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError('not the worker of the notifications');
      return url;
    },
  });
  return trusted.createScriptURL(WORKER);
}
