import type { ReceivedRequest } from '#approval-page/page-request.ts';
import { InvalidRequest } from '#review/invalid-request.ts';
import { APPROVAL_PROTOCOL, pageReadyMessage, parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { RedirectRequest, ReadRedirectResult } from '#domain/access/approval-redirect.ts';
import { resultUrl } from '#domain/access/approval-redirect.ts';

/**
 * The tab of this page: what it stores while the browser is at the dashboard, and where it may go.
 */
export interface Tab {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** The origins that the operator of this page allows. */
  readonly allowed: readonly string[];
  /** Returns a new random nonce. */
  readonly nonce: string;
  /** Replaces this page in the history by the page at the address. */
  readonly go: (address: string) => void;
}

const KEY = 'conclave/redirect/v1';

/**
 * Returns the request that a redirect brings, once. Without a request it redirects to the dashboard
 * with a nonce and never settles. Throws for a dashboard that is not on the operator's list, and
 * for a request with a nonce that this tab did not issue. A redirect does not prove which page sent
 * the browser here. The page therefore judges the request by its content, and answers only the
 * dashboard that received the nonce.
 */
export async function requestFromRedirect(
  { dashboard, requestId, request }: RedirectRequest,
  tab: Tab,
): Promise<ReceivedRequest> {
  if (!tab.allowed.includes(dashboard)) {
    throw new InvalidRequest('The operator of this page does not allow the dashboard that would receive the answer.');
  }
  const back = (message: ReadRedirectResult) => tab.go(resultUrl(dashboard, { requestId, message }));
  if (request === null) {
    tab.storage.setItem(KEY, [dashboard, requestId, tab.nonce].join('\n'));
    back(pageReadyMessage(tab.nonce));
    return new Promise<never>(() => {});
  }
  const nonce = takeNonce(tab.storage, { dashboard, requestId });
  if (nonce === null) {
    throw new InvalidRequest(
      'This page does not expect this request, or has already shown it. Start again in the dashboard.',
    );
  }
  const parsed = parseApprovalRequest(request);
  if (parsed?.requestId !== requestId) throw new InvalidRequest('The request from the dashboard is malformed.');
  const leave = () => back({ type: 'conclave/approval/declined', version: APPROVAL_PROTOCOL, requestId });
  return { dashboard, way: 'redirect', nonce, request: parsed, answer: back, leave };
}

/**
 * Returns the nonce that this dashboard received for this request, and deletes it. One nonce serves
 * one request.
 */
function takeNonce(
  storage: Tab['storage'],
  request: { readonly dashboard: string; readonly requestId: string },
): string | null {
  const [dashboard, requestId, nonce] = (storage.getItem(KEY) ?? '').split('\n');
  storage.removeItem(KEY);
  const isAwaited = dashboard === request.dashboard && requestId === request.requestId;
  return isAwaited && nonce !== undefined && /^[0-9a-f]{64}$/.test(nonce) ? nonce : null;
}
