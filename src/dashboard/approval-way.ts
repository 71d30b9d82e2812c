import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Person } from '#dashboard/api.ts';
import { askWindow, openApprovalPage } from '#dashboard/approval-popup.ts';
import { leaveForApprovalPage } from '#dashboard/approval-redirect.ts';
import type { Errand } from '#dashboard/errand.ts';
import { requestFor } from '#dashboard/approval-request.ts';
import type { ApprovalAnswer, EnrolmentAnswer } from '#domain/approval-message.ts';

/** The origin of the approval page, or null where this deployment has none. */
export const ApprovalOrigin = createContext<string | null>(null);

export function useApprovalOrigin(): string | null {
  return useContext(ApprovalOrigin);
}

/** A window beside this page, or this tab goes there and comes back. */
export type Way = 'window' | 'redirect';

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
export function askApprovalPage(
  origin: string,
  { errand, me, way }: { readonly errand: Errand; readonly me: Person; readonly way: Way },
): Promise<ApprovalAnswer | EnrolmentAnswer> {
  const page = way === 'redirect' || isPhone() ? null : openApprovalPage(origin);
  if (page === null) return leaveForApprovalPage(origin, errand);
  const requestId = crypto.randomUUID();
  return askWindow({ page, origin }, (nonce) => requestFor(errand, { nonce, requestId, me }));
}
