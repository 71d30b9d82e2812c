import { bytesToHex } from '@noble/hashes/utils.js';
import { NothingToApprove } from '#approval-page/canonical-cursor.ts';
import type { ApprovalAnswer, ApprovalHello, ApprovalRequest, EnrolmentRequest } from '#domain/approval-message.ts';
import type { EnrolmentAnswer } from '#domain/approval-message.ts';
import { APPROVAL_PROTOCOL, parseApprovalRequest } from '#domain/approval-message.ts';

/** The one request of a dashboard, and the way back to it. */
export interface Asked {
  /** The dashboard's origin, as the browser names the sender. */
  readonly dashboard: string;
  /** Chosen by this page, for the statements of the co-signers. */
  readonly nonce: string;
  readonly request: ApprovalRequest | EnrolmentRequest;
  readonly answer: (answer: ApprovalAnswer | EnrolmentAnswer) => void;
}

/** The list that the operator of this page keeps beside it: the origins of the dashboards that it answers. */
const ALLOWED_ORIGINS = 'allowed-origins.json';
const NONCE_BYTES = 32;

/**
 * Waits for the request of the window that opened this page, and takes the first one only: a message that
 * comes later cannot change what the person has read. Throws for a page inside another page, without an
 * opener, or of a dashboard that is not on the operator's list.
 */
export async function askedByOpener(): Promise<Asked> {
  // A frame could lie under another page's buttons. Static hosts also send frame-ancestors.
  if (window.top !== window.self) throw new NothingToApprove('This page does not work inside another page.');
  const opener = window.opener as Window | null;
  const dashboard = new URLSearchParams(location.hash.slice(1)).get('dashboard');
  if (opener === null || dashboard === null) {
    throw new NothingToApprove('This page opens from a dashboard of Conclave. There is nothing to approve here.');
  }
  if (!(await allowedOrigins()).includes(dashboard)) {
    throw new NothingToApprove('The operator of this page does not allow the dashboard that opened it.');
  }
  const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const request = new Promise<Asked['request']>((resolve) => {
    const take = (event: MessageEvent) => {
      if (event.origin !== dashboard || event.source !== opener) return;
      const parsed = parseApprovalRequest(event.data);
      if (parsed === null) return;
      removeEventListener('message', take);
      resolve(parsed);
    };
    addEventListener('message', take);
  });
  const hello: ApprovalHello = { type: 'conclave/approval/hello', version: APPROVAL_PROTOCOL, nonce };
  opener.postMessage(hello, dashboard);
  return {
    dashboard,
    nonce,
    request: await request,
    answer: (answer) => opener.postMessage(answer, dashboard),
  };
}

/** Fetched from this page's own origin, so its operator decides and the bytes of the release stay the same. */
async function allowedOrigins(): Promise<readonly string[]> {
  const response = await fetch(ALLOWED_ORIGINS, { cache: 'no-store', redirect: 'error', credentials: 'omit' });
  const list: unknown = response.ok ? await response.json().catch(() => null) : null;
  if (!Array.isArray(list)) throw new NothingToApprove(`The operator of this page keeps no ${ALLOWED_ORIGINS}.`);
  return list.filter((origin): origin is string => typeof origin === 'string' && URL.parse(origin)?.origin === origin);
}
