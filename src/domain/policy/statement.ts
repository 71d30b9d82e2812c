import { canonicalBytes } from '#domain/canonical/bytes.ts';

/**
 * A co-signer's signed statement of the policy that it has in force for one key of a vault. The
 * verifier chooses the nonce, so an old statement does not answer a new request.
 */
export interface PolicyStatement {
  /** Number of the co-signer. */
  readonly cosigner: number;
  readonly vaultId: number;
  readonly keyId: string;
  readonly policyVersion: number;
  /** Lower-case hex SHA-256 of the policy, as `policyHash` gives it. */
  readonly policyHash: string;
  /** The number of co-signers that sign together. */
  readonly signingThreshold: number;
  /** The epoch of the share that the co-signer uses. */
  readonly epoch: number;
  readonly issuedAtMs: number;
  /** Lower-case hex of 32 bytes, chosen by the verifier. */
  readonly nonce: string;
}

/**
 * A statement with the Ed25519 signature of the co-signer's identity, in lower-case hex of 64
 * bytes.
 */
export interface SignedStatement extends PolicyStatement {
  readonly signature: string;
}

/** Ours: a verifier refuses an older statement, and one that is dated this far in the future. */
export const STATEMENT_TTL_MS = 5 * 60 * 1000;

/** Returns the bytes that a co-signer signs. */
export function statementBytes(statement: PolicyStatement): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/policy-statement/v2', [
    ['cosigner', String(statement.cosigner)],
    ['vaultId', String(statement.vaultId)],
    ['keyId', statement.keyId],
    ['policyVersion', String(statement.policyVersion)],
    ['policyHash', statement.policyHash],
    ['signingThreshold', String(statement.signingThreshold)],
    ['epoch', String(statement.epoch)],
    ['issuedAtMs', String(statement.issuedAtMs)],
    ['nonce', statement.nonce],
  ]);
}

export type StatementFault = 'other-vault' | 'other-key' | 'other-nonce' | 'other-threshold' | 'too-old';

/**
 * Returns why a statement does not answer this request, or null when it does. The signature is
 * verified elsewhere.
 */
export function statementFault(
  statement: PolicyStatement,
  request: {
    readonly vaultId: number;
    readonly keyId: string;
    readonly signingThreshold: number;
    readonly nonce: string;
    readonly nowMs: number;
  },
): StatementFault | null {
  if (statement.vaultId !== request.vaultId) return 'other-vault';
  if (statement.keyId !== request.keyId) return 'other-key';
  if (statement.nonce !== request.nonce) return 'other-nonce';
  if (statement.signingThreshold !== request.signingThreshold) return 'other-threshold';
  return Math.abs(request.nowMs - statement.issuedAtMs) > STATEMENT_TTL_MS ? 'too-old' : null;
}
