import type {
  ApprovalAnswer,
  ApprovalDecline,
  DashboardRequest,
  PageReady,
  EnrolmentAnswer,
} from '#domain/access/approval-page-message.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';

/**
 * The addresses by which the dashboard and the approval page communicate where no window opens, as
 * on phones. One tab goes to the page and back twice: the dashboard calls, the page answers with
 * its nonce, the dashboard calls again with a request whose statements name the nonce, and the page
 * answers with the signature.
 *
 * Everything is in the fragment, which browsers send to no server. A fragment contains no full
 * return address: the origin must be in the page's list of allowed origins, and the path is a
 * constant.
 */

/** The path at which the dashboard accepts answers. */
const RETURN_PATH = '/approval/';

/**
 * The longest address. Every browser accepts 100 KB. A policy change with 20 devices and 50
 * contacts takes 61 KB, and one with 100 devices and 200 contacts takes 239 KB.
 */
const MAX_ADDRESS = 100_000;

/** The fields with which a redirect opens the page. */
export interface RedirectRequest {
  /**
   * The origin that receives the answer, if the page's operator allows it. Nothing proves which
   * site sent the browser here.
   */
  readonly dashboard: string;
  readonly requestId: string;
  /** An unverified request; null for a call that requests the nonce. */
  readonly request: unknown;
}

/** The fields with which the page's redirect opens the dashboard. */
export interface RedirectResult {
  readonly requestId: string;
  readonly message: unknown;
}

/** Returns the address that requests the page's nonce. */
export function requestUrl(page: string, { dashboard, requestId }: Omit<RedirectRequest, 'request'>): string {
  return `${page}/#${String(new URLSearchParams({ dashboard, redirect: requestId }))}`;
}

/** Returns the address with the request, or null when it is longer than browsers accept. */
export function resultTargetUrl(
  page: string,
  { dashboard, request }: { readonly dashboard: string; readonly request: DashboardRequest },
): string | null {
  const call = requestUrl(page, { dashboard, requestId: request.requestId });
  const address = `${call}&request=${encodeURIComponent(JSON.stringify(request))}`;
  return address.length > MAX_ADDRESS ? null : address;
}

/**
 * Returns the content of the fragment of the page's address, or null for a fragment without a
 * redirect.
 */
export function parseRedirectRequest(fragment: string): RedirectRequest | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, ''));
  const [dashboard, requestId, request] = ['dashboard', 'redirect', 'request'].map((name) => fields.get(name));
  if (dashboard == null || requestId == null || !REQUEST_ID.test(requestId)) return null;
  return { dashboard, requestId, request: request == null ? null : messageIn(request) };
}

/** Returns the return address to a dashboard whose origin is allowed. */
export function resultUrl(
  dashboard: string,
  { requestId, message }: { readonly requestId: string; readonly message: ReadRedirectResult },
): string {
  return `${dashboard}/#${RETURN_PATH}${requestId}/${encodeURIComponent(JSON.stringify(message))}`;
}

/** The messages that the page returns. */
export type ReadRedirectResult = PageReady | ApprovalAnswer | EnrolmentAnswer | ApprovalDecline;

/**
 * Returns the message in the fragment of the dashboard's address, or null for any other page of the
 * dashboard.
 */
export function parseRedirectResult(fragment: string): RedirectResult | null {
  const path = fragment.replace(/^#/, '');
  if (!path.startsWith(RETURN_PATH)) return null;
  const [requestId = '', ...rest] = path.slice(RETURN_PATH.length).split('/');
  return { requestId, message: messageIn(decoded(rest.join('/'))) };
}

const REQUEST_ID = /^[-0-9A-Za-z]{1,64}$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/**
 * Returns the parsed value, or the empty text for invalid JSON: it is not a message of the
 * protocol.
 */
function messageIn(text: string): unknown {
  const value = jsonIn(text);
  return value === undefined ? '' : value;
}
