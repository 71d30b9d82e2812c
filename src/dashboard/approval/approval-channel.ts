import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Person } from '#dashboard/api.ts';
import { requestThroughWindow, openApprovalPage } from '#dashboard/approval/approval-popup.ts';
import { redirectForNonce } from '#dashboard/approval/approval-redirect.ts';
import type { SigningTask } from '#dashboard/forms/signing-task.ts';
import { requestFor } from '#dashboard/approval/approval-request.ts';
import type { ApprovalAnswer, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';

/** The origin of the approval page, or null where this deployment has none. */
export const ApprovalOrigin = createContext<string | null>(null);

export function useApprovalOrigin(): string | null {
  return useContext(ApprovalOrigin);
}

/** A window beside this page, or this tab goes there and comes back. */
export type ApprovalChannel = 'window' | 'redirect';

/** Phones lose windows, and show one at a time. */
const PHONE = '(pointer: coarse) and (max-width: 640px)';

export function isPhone(): boolean {
  return matchMedia(PHONE).matches;
}

/**
 * The answer of the approval page, where it opens in a window. Without one this tab goes to the page, and
 * what it answers is taken up when the tab comes back. To be called in a click: browsers open a window for
 * nothing else.
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
