import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type { ApprovalAnswer, DashboardRequest, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';
import { nonceOfPageReady, parseApprovalAnswer } from '#domain/access/approval-page-message.ts';

/**
 * The interval at which this page checks whether the window is closed. Browsers send no event for a
 * window of another origin.
 */
const POLL_MS = 500;

/**
 * The number of polls that must find the window closed before the request counts as left without an
 * answer. The approval page closes itself when it answers, and the answer can arrive after the
 * window has closed.
 */
const POLLS_CLOSED = 6;

/**
 * Opens the window of the approval page. Returns null when the browser blocks it. Call this in a
 * click handler.
 */
export function openApprovalPage(origin: string): Window | null {
  const address = `${origin}/#dashboard=${encodeURIComponent(location.origin)}`;
  return window.open(address, '_blank', 'popup,width=560,height=860');
}

/**
 * Returns the answer of the approval page to the request with this nonce. Throws `NotSigned` when
 * the window is closed without an answer.
 */
export function requestThroughWindow(
  { page, origin }: { readonly page: Window; readonly origin: string },
  requestFor: (nonce: string) => Promise<DashboardRequest>,
): Promise<ApprovalAnswer | EnrolmentAnswer> {
  let requestId: string | null = null;
  let pollsClosed = 0;
  return new Promise<ApprovalAnswer | EnrolmentAnswer>((resolve, reject) => {
    const end = () => {
      removeEventListener('message', hear);
      clearInterval(looking);
    };
    const fail = (error: unknown) => {
      end();
      page.close();
      reject(error instanceof Error ? error : new NotSigned('The approval page received no request.'));
    };
    const send = async (nonce: string) => {
      const request = await requestFor(nonce);
      ({ requestId } = request);
      page.postMessage(request, origin);
    };
    const hear = (event: MessageEvent) => {
      if (event.origin !== origin || event.source !== page) return;
      const nonce = nonceOfPageReady(event.data);
      if (nonce !== null && requestId === null) {
        requestId = '';
        send(nonce).catch(fail);
      }
      const answer = requestId === null ? null : parseApprovalAnswer(event.data, requestId);
      if (answer === null) return;
      end();
      resolve(answer);
    };
    addEventListener('message', hear);
    const looking = setInterval(() => {
      if (page.closed) pollsClosed += 1;
      if (pollsClosed >= POLLS_CLOSED) fail(new NotSigned('The approval page was closed without a signature.'));
    }, POLL_MS);
  });
}
