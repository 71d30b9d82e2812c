/** Notifications in this browser: a worker of its own shows them, also while no page is open. */

/** Its way is fixed: a browser keeps it, and asks there for a newer one. */
const WORKER = '/notify.js';

/** The browser, or its owner, does not want to; said in words. */
export class NotSubscribed extends Error {}

export function supportsPush(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

/**
 * Asks the owner, and subscribes this browser with its push service. Gives what the service has to know of it.
 * Throws `NotSubscribed` where the owner has said no, or the push service of the browser does not answer.
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

/** The policy of the page's content lets it load scripts by one rule alone, which knows one address. */
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
