/**
 * The reason why a co-signer does not take part. The coordinator may try other co-signers for some
 * of these. A refusal changes nothing in the co-signer, except that `not-enough-attestations`
 * leaves the choice of a policy.
 */
export type CosignerRefusal =
  | 'malformed'
  | 'not-my-coordinator'
  /**
   * Its settings are inconsistent. An error of `loadCosignerSet` names the setting and may contain
   * a part of it.
   */
  | 'misconfigured'
  | 'body-too-large'
  /** The detail names what this release of the co-signer cannot read. */
  | 'state-unreadable'
  /** The detail lists the versions of requests that this co-signer speaks, the newest first. */
  | 'wire-mismatch'
  /** The detail lists the protocols that this co-signer supports, the newest first. */
  | 'protocol-mismatch'
  | 'unknown-session'
  | 'session-over'
  | 'envelope-refused'
  | 'not-paired'
  | 'peer-banned'
  | 'unknown-key'
  | 'share-too-old'
  | 'other-epoch'
  /** Too many dealings were not completed. It takes part again within an hour. */
  | 'too-many-shares'
  | 'pair-too-old'
  | 'before-its-time'
  | 'no-recovery-key'
  | 'too-many-exports'
  /** Two implementations sealed a share differently. The package is not signed. */
  | 'seal-differs'
  | 'wrong-wallet'
  | 'digest-mismatch'
  | 'policy-behind'
  | 'policy-ahead'
  | 'mandate-expired'
  /**
   * Not all devices of the first policy in device mode approved it. The detail is its version.
   */
  | 'not-founded'
  | 'other-cosigners'
  | 'other-choice'
  | 'not-enough-attestations'
  | 'created-in-the-future'
  | 'fee-above-ceiling'
  | 'receipt-missing'
  | 'policy-mismatch'
  | 'not-enough-approvals'
  | 'policy-forbids'
  | 'expired'
  | 'payload-refused'
  | 'second-digest'
  | 'not-enough-witnesses'
  | 'aborted';

export interface Refused {
  readonly code: CosignerRefusal;
  /**
   * Public: the step of a protocol, the fault of a payload, the version of a policy. Never a
   * secret.
   */
  readonly detail: string | null;
  /** The co-signer that the protocol blames, when it can identify one. */
  readonly culprit: number | null;
}

export function refusal(code: CosignerRefusal, detail: string | null = null, culprit: number | null = null): Refused {
  return { code, detail, culprit };
}
