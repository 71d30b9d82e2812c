import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type {
  ApprovalAnswer,
  ApprovalRequest,
  EnrolmentAnswer,
  EnrolmentRequest,
} from '#domain/access/approval-page-message.ts';
import { nonceOfPageReady, parseApprovalAnswer } from '#domain/access/approval-page-message.ts';

/** How often it is looked whether the window is still there: browsers tell nothing of a window of another origin. */
const POLL_MS = 500;

/**
 * So many polls find the window closed before it is taken for left without an answer. The page closes itself as it answers, and browsers
 * deliver the answer and the end of the window in no order: on a busy machine the answer comes later.
 */
const POLLS_CLOSED = 6;

/** The window of the approval page, or null where the browser opens none. To be called in a click. */
export function openApprovalPage(origin: string): Window | null {
  const address = `${origin}/#dashboard=${encodeURIComponent(location.origin)}`;
  return window.open(address, '_blank', 'popup,width=560,height=860');
}

/**
 * The answer of the approval page to a request that names its nonce. Throws `NotSigned` when the window is
 * closed without an answer.
 */
export function requestThroughWindow(
  { page, origin }: { readonly page: Window; readonly origin: string },
  requestFor: (nonce: string) => Promise<ApprovalRequest | EnrolmentRequest>,
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
