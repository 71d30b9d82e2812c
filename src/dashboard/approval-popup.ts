import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ApprovalAnswer, ApprovalRequest, EnrolmentAnswer, EnrolmentRequest } from '#domain/approval-message.ts';
import { nonceOfHello, parseApprovalAnswer } from '#domain/approval-message.ts';

/** The origin of the approval page, or null where this deployment has none. */
export const ApprovalOrigin = createContext<string | null>(null);

export function useApprovalOrigin(): string | null {
  return useContext(ApprovalOrigin);
}

/** The person has closed the approval page, or the browser did not open it. The message is for them. */
export class NotSigned extends Error {}

/** How often it is looked whether the window is still there: browsers tell nothing of a window of another origin. */
const LOOK_MS = 500;

/**
 * The answer of the approval page to a request that names its nonce. To be called in a click: browsers open
 * a window for nothing else. Throws `NotSigned` when the window is closed without an answer.
 */
export function askApprovalPage(
  origin: string,
  requestFor: (nonce: string) => Promise<ApprovalRequest | EnrolmentRequest>,
): Promise<ApprovalAnswer | EnrolmentAnswer> {
  const address = `${origin}/#dashboard=${encodeURIComponent(location.origin)}`;
  const page = window.open(address, '_blank', 'popup,width=560,height=860');
  if (page === null) return Promise.reject(new NotSigned('The browser did not open the approval page. Allow pop-ups.'));
  let requestId: string | null = null;
  return new Promise<ApprovalAnswer | EnrolmentAnswer>((resolve, reject) => {
    const end = () => {
      removeEventListener('message', hear);
      clearInterval(looking);
    };
    const fail = (error: unknown) => {
      end();
      page.close();
      reject(error instanceof Error ? error : new NotSigned('The approval page got no request.'));
    };
    const send = async (nonce: string) => {
      const request = await requestFor(nonce);
      ({ requestId } = request);
      page.postMessage(request, origin);
    };
    const hear = (event: MessageEvent) => {
      if (event.origin !== origin || event.source !== page) return;
      const nonce = nonceOfHello(event.data);
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
      if (page.closed) fail(new NotSigned('The approval page was closed without a signature.'));
    }, LOOK_MS);
  });
}

export function newRequestId(): string {
  return crypto.randomUUID();
}
