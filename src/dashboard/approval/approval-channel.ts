import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Person } from '#dashboard/api.ts';
import { requestThroughWindow, openApprovalPage } from '#dashboard/approval/approval-popup.ts';
import { redirectForNonce } from '#dashboard/approval/approval-redirect.ts';
import type { SigningTask } from '#dashboard/forms/signing-task.ts';
import { requestFor } from '#dashboard/approval/approval-request.ts';
import type { ApprovalAnswer, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';

/** The origins of the approval pages, the preferred one first. A deployment can have none. */
export const ApprovalOrigins = createContext<readonly string[]>([]);

export function useApprovalOrigins(): readonly string[] {
  return useContext(ApprovalOrigins);
}

/** How the approval page opens: in a window beside this page, or in this tab by redirect. */
export type ApprovalChannel = 'window' | 'redirect';

/** Phones close background windows and show one window at a time, so they use the redirect. */
const PHONE = '(pointer: coarse) and (max-width: 640px)';

export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/**
 * Returns the answer of the approval page when it opens in a window. Otherwise this tab redirects
 * to the approval page, and the answer is read when the tab returns. Call this in a click handler,
 * because browsers open a window only then.
 */
export function requestSignature(
  origin: string,
  { task, me, way }: { readonly task: SigningTask; readonly me: Person; readonly way: ApprovalChannel },
): Promise<ApprovalAnswer | EnrolmentAnswer> {
  const page = way === 'redirect' || isPhone() ? null : openApprovalPage(origin);
  if (page === null) return redirectForNonce(origin, task);
  const requestId = crypto.randomUUID();
  return requestThroughWindow({ page, origin }, (nonce) => requestFor(task, { nonce, requestId, me }));
}
