import type {
  ApprovalAnswer,
  ApprovalDecline,
  PageReady,
  ApprovalRequest,
} from '#domain/access/approval-page-message.ts';
import type { EnrolmentAnswer, EnrolmentRequest } from '#domain/access/approval-page-message.ts';

/**
 * The addresses by which the dashboard and the approval page speak where no window opens, as on phones. One
 * tab goes to the page and back twice: the dashboard calls, the page answers with its nonce, the dashboard
 * comes again with a request whose statements name the nonce, and the page answers with the signature.
 *
 * Everything stands in the fragment, which browsers send to no server. Nothing in a fragment is an address:
 * the way back is an origin of the list beside the page, and the path that is fixed here.
 */

/** Where the dashboard takes what comes back. */
const RETURN_PATH = '/approval/';

/**
 * The longest address. Every browser takes one of 100 KB; a policy change with 20 devices and 50 contacts
 * takes 61 KB, one with 100 devices and 200 contacts 239 KB.
 */
const MAX_ADDRESS = 100_000;

/** What the page is opened with by redirect. */
export interface RedirectRequest {
  /** The origin that the answer goes to, if the page's operator allows it. Nothing proves who sent the browser here. */
  readonly dashboard: string;
  readonly requestId: string;
  /** What may be a request; null for a call, which asks for the nonce. */
  readonly request: unknown;
}

/** What the dashboard is opened with when the page has sent the browser back. */
export interface RedirectResult {
  readonly requestId: string;
  readonly message: unknown;
}

/** The address that asks the page for its nonce. */
export function requestUrl(page: string, { dashboard, requestId }: Omit<RedirectRequest, 'request'>): string {
  return `${page}/#${String(new URLSearchParams({ dashboard, redirect: requestId }))}`;
}

/** The address with the request, or null where it is longer than browsers take. */
export function resultTargetUrl(
  page: string,
  { dashboard, request }: { readonly dashboard: string; readonly request: ApprovalRequest | EnrolmentRequest },
): string | null {
  const call = requestUrl(page, { dashboard, requestId: request.requestId });
  const address = `${call}&request=${encodeURIComponent(JSON.stringify(request))}`;
  return address.length > MAX_ADDRESS ? null : address;
}

/** What a fragment of the page's address says, or null for one without a redirect. */
export function parseRedirectRequest(fragment: string): RedirectRequest | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const [dashboard, requestId, request] = ['dashboard', 'redirect', 'request'].map((name) => fields.get(name));
  if (dashboard == null || requestId == null || !REQUEST_ID.test(requestId)) return null;
  return { dashboard, requestId, request: request == null ? null : jsonOf(request) };
}

/** The way back to a dashboard whose origin is allowed. */
export function resultUrl(
  dashboard: string,
  { requestId, message }: { readonly requestId: string; readonly message: ReadRedirectResult },
): string {
  return `${dashboard}/#${RETURN_PATH}${requestId}/${encodeURIComponent(JSON.stringify(message))}`;
}

/** What the page sends back. */
export type ReadRedirectResult = PageReady | ApprovalAnswer | EnrolmentAnswer | ApprovalDecline;

/** What a fragment of the dashboard's address brings back, or null for any other page of the dashboard. */
export function parseRedirectResult(fragment: string): RedirectResult | null {
  const path = fragment.replace(/^#/, '');
  if (!path.startsWith(RETURN_PATH)) return null;
  const [requestId = '', ...rest] = path.slice(RETURN_PATH.length).split('/');
  return { requestId, message: jsonOf(decoded(rest.join('/'))) };
}

const REQUEST_ID = /^[-0-9A-Za-z]{1,64}$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The value, or the empty text where there is none: it is no message of the protocol. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return '';
  }
}
