import { InvalidRequest } from '#approval-page/read/canonical-cursor.ts';
import type { PageRequest } from '#approval-page/page-request.ts';
import { APPROVAL_PROTOCOL, pageReadyMessage, parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { RedirectRequest, ReadRedirectResult } from '#domain/access/approval-redirect.ts';
import { resultUrl } from '#domain/access/approval-redirect.ts';

/** The tab of this page: what it keeps while the browser is at the dashboard, and where it may go. */
export interface Tab {
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** The origins that the operator of this page allows. */
  readonly allowed: readonly string[];
  /** A new random nonce. */
  readonly nonce: string;
  /** Leaves this page, with no entry of it in the history. */
  readonly go: (address: string) => void;
}

const KEY = 'conclave/redirect/v1';

/**
 * The request that a redirect brings, once; or leaves for the dashboard with the nonce that the request has
 * to name, and never settles. Throws for a dashboard that is not on the operator's list, and for a request
 * that this tab does not wait for. Nothing proves which page sent the browser here: the request is judged by
 * what it is, and the answer goes to the dashboard that the nonce went to.
 */
export async function requestFromRedirect(
  { dashboard, requestId, request }: RedirectRequest,
  tab: Tab,
): Promise<PageRequest> {
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

/** The nonce that went to this dashboard for this request. It is forgotten: one nonce serves one request. */
function takeNonce(
  storage: Tab['storage'],
  request: { readonly dashboard: string; readonly requestId: string },
): string | null {
  const [dashboard, requestId, nonce] = (storage.getItem(KEY) ?? '').split('\n');
  storage.removeItem(KEY);
  const isAwaited = dashboard === request.dashboard && requestId === request.requestId;
  return isAwaited && nonce !== undefined && /^[0-9a-f]{64}$/.test(nonce) ? nonce : null;
}
