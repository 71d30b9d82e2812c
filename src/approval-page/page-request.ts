import type { ApprovalAnswer, DashboardRequest, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';

/** The one request of a dashboard, and how this page returns to that dashboard. */
export interface ReceivedRequest {
  /**
   * The dashboard's origin. The browser proves the origin of a window's opener. A redirect proves
   * nothing, but the answer goes to this origin alone, and the operator of this page allows it.
   */
  readonly dashboard: string;
  readonly way: 'window' | 'redirect';
  /** This page chooses the nonce. The statements of the co-signers must contain it. */
  readonly nonce: string;
  readonly request: DashboardRequest;
  readonly answer: (answer: ApprovalAnswer | EnrolmentAnswer) => void;
  /** Leaves this page. After a redirect the dashboard receives an answer without a signature. */
  readonly leave: () => void;
}

/** A request, compared with the one that this window showed before. */
export interface PageRequest extends ReceivedRequest {
  /** This window showed another request before, which has no answer. */
  readonly replacesUnanswered: boolean;
  /** Records that the person has read this request after another one without an answer. */
  readonly acknowledge: () => void;
}
