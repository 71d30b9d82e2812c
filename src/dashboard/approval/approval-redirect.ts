import type { SigningTask, Tab } from '#dashboard/forms/signing-task.ts';
import { store } from '#dashboard/forms/signing-task.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type { DashboardRequest } from '#domain/access/approval-page-message.ts';
import { requestUrl, resultTargetUrl } from '#domain/access/approval-redirect.ts';

/** Returns the tab that this script runs in. */
export const thisTab = (): Tab => ({
  storage: sessionStorage,
  fragment: location.hash,
  show: (fragment) => history.replaceState(null, '', `${location.pathname}${fragment}`),
});

/**
 * Redirects to the approval page. The promise settles only when the person returns without an
 * answer.
 */
export function redirectForNonce(origin: string, task: SigningTask): Promise<never> {
  const requestId = crypto.randomUUID();
  store(sessionStorage, { requestId, path: location.hash, awaits: 'nonce', page: origin, task });
  location.assign(requestUrl(origin, { dashboard: location.origin, requestId }));
  return new Promise((_resolve, reject) => {
    // Browsers keep a page in the history in memory, with this promise.
    const back = () => reject(new NotSigned('You returned from the approval page without a signature.'));
    addEventListener('pageshow', back, { once: true });
  });
}

/**
 * Redirects to the approval page with the request for its nonce. Throws when the request is too
 * long for an address.
 */
export function redirectWithRequest(origin: string, request: DashboardRequest): void {
  const address = resultTargetUrl(origin, { dashboard: location.origin, request });
  if (address === null) {
    throw new NotSigned(
      'The policy is too large for a redirect to the approval page. Use a browser that can open the page in a window.',
    );
  }
  location.replace(address);
}
