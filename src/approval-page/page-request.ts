import type {
  ApprovalAnswer,
  ApprovalRequest,
  EnrolmentAnswer,
  EnrolmentRequest,
} from '#domain/access/approval-page-message.ts';

/** The one request of a dashboard, and the way back to it. */
export interface PageRequest {
  /**
   * The dashboard's origin. A window's opener is proved by the browser; a redirect proves nothing, but the
   * answer goes to this origin alone, and the operator of this page allows it.
   */
  readonly dashboard: string;
  readonly way: 'window' | 'redirect';
  /** Chosen by this page, for the statements of the co-signers. */
  readonly nonce: string;
  readonly request: ApprovalRequest | EnrolmentRequest;
  readonly answer: (answer: ApprovalAnswer | EnrolmentAnswer) => void;
  /** Leaves this page. By redirect the dashboard learns that there is no signature. */
  readonly leave: () => void;
}
