import { bytesToHex } from '@noble/hashes/utils.js';
import type { PageRequest, ReceivedRequest } from '#approval-page/page-request.ts';
import { InvalidRequest } from '#review/invalid-request.ts';
import { requestFromRedirect } from '#approval-page/arrival/redirect.ts';
import { comparedWithUnanswered } from '#approval-page/arrival/unanswered.ts';
import { pageReadyMessage, parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { RedirectRequest } from '#domain/access/approval-redirect.ts';
import { parseRedirectRequest } from '#domain/access/approval-redirect.ts';

/**
 * The list of the dashboards' origins that this page answers. The operator keeps it beside the
 * page.
 */
const ALLOWED_ORIGINS = 'allowed-origins.json';
const NONCE_BYTES = 32;
const KEY_OF_PROBE = 'conclave/probe';

/**
 * Waits for the request of a dashboard and accepts the first one only. A later message cannot
 * change what the person has read. After a new load of this page the request says whether it
 * replaces another one. Throws when the page is in a frame, when no dashboard opened it, when the
 * dashboard is not on the operator's list, and when the browser stores nothing for this page.
 */
export async function requestFromOpener(): Promise<PageRequest> {
  // A frame could put this page under the buttons of another page. Static hosts also send
  // frame-ancestors.
  if (window.top !== window.self) throw new InvalidRequest('This page does not work inside another page.');
  const { hash } = location;
  // The request is removed from the address bar and the history, so a reload shows nothing to
  // approve.
  clearFragment();
  // The opener may set a fragment at any time. No element of this page is the target of one.
  addEventListener('hashchange', clearFragment);
  // The browser may keep this page when the window loads another one. An earlier request must not
  // return without the comparison.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  const storage = windowStorage();
  const arrival = parseRedirectRequest(hash);
  const received = arrival === null ? requestByOpener(hash) : requestByRedirect(arrival, storage);
  return comparedWithUnanswered(await received, storage);
}

async function requestByRedirect(arrival: RedirectRequest, storage: Storage): Promise<ReceivedRequest> {
  const go = (address: string) => location.replace(address);
  return requestFromRedirect(arrival, { storage, allowed: await allowedOrigins(), nonce: newNonce(), go });
}

async function requestByOpener(hash: string): Promise<ReceivedRequest> {
  const opener = window.opener as Window | null;
  const dashboard = new URLSearchParams(hash.slice(1)).get('dashboard');
  if (opener === null || dashboard === null) {
    throw new InvalidRequest('This page must be opened from a Conclave dashboard.');
  }
  if (!(await allowedOrigins()).includes(dashboard)) {
    throw new InvalidRequest('The operator of this page does not allow the dashboard that opened it.');
  }
  const nonce = newNonce();
  const request = new Promise<ReceivedRequest['request']>((resolve) => {
    const take = (event: MessageEvent) => {
      if (event.origin !== dashboard || event.source !== opener) return;
      const parsed = parseApprovalRequest(event.data);
      if (parsed === null) return;
      removeEventListener('message', take);
      resolve(parsed);
    };
    addEventListener('message', take);
  });
  opener.postMessage(pageReadyMessage(nonce), dashboard);
  return {
    dashboard,
    way: 'window',
    nonce,
    request: await request,
    answer: (answer) => {
      opener.postMessage(answer, dashboard);
      if (answer.type === 'conclave/approval/answer') window.close();
    },
    leave: () => window.close(),
  };
}

/** Removes the fragment, and shows the beginning of the page again. */
function clearFragment(): void {
  history.replaceState(null, '', location.pathname);
  scrollTo(0, 0);
}

/**
 * Returns the storage of this window. Throws where the browser provides none: without it a new load
 * could replace a request that the person has read.
 */
function windowStorage(): Storage {
  try {
    const storage = window.sessionStorage;
    storage.setItem(KEY_OF_PROBE, '');
    storage.removeItem(KEY_OF_PROBE);
    return storage;
  } catch {
    throw new InvalidRequest('This browser stores no data for this page. Allow it in the settings, and start again.');
  }
}

function newNonce(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

/**
 * Fetches the list from this page's own origin. The operator decides, and the bytes of the release
 * stay the same.
 */
async function allowedOrigins(): Promise<readonly string[]> {
  const response = await fetch(ALLOWED_ORIGINS, { cache: 'no-store', redirect: 'error', credentials: 'omit' });
  const list: unknown = response.ok ? await response.json().catch(() => null) : null;
  if (!Array.isArray(list))
    throw new InvalidRequest(`The operator of this page has provided no valid ${ALLOWED_ORIGINS}.`);
  return list.filter((origin): origin is string => typeof origin === 'string' && URL.parse(origin)?.origin === origin);
}
