import { expect } from 'vitest';
import { bytesToHex } from '@noble/hashes/utils.js';
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { ThresholdSignRequest } from './threshold-sign.ts';
import { thresholdSign } from './threshold-sign.ts';
import type { Cosigners } from './cosigners.ts';

/** Sends the request to every pair of co-signers; each co-signer must refuse it by itself. */
export async function refusedByAll(cosigners: Cosigners, request: ThresholdSignRequest, code: string): Promise<void> {
  for (const pair of [
    [1, 2],
    [1, 3],
    [2, 3],
  ]) {
    const outcome = await thresholdSign(cosigners.some(...pair), request);
    expect([pair, outcome.ok, outcome.ok ? '' : outcome.reason]).toEqual([pair, false, expect.stringContaining(code)]);
  }
  // Each co-signer also refuses alone, so that the refusal is not that of its partner.
  for (const cosigner of cosigners.all) {
    const answer = await cosigner.call(
      `key/${request.key.keyId}/open`,
      opening(
        openBody(
          request,
          [1, 2, 3].filter((i) => i === cosigner.index || i === (cosigner.index % 3) + 1),
        ),
      ),
    );
    expect([cosigner.index, answer.ok, answer.ok ? '' : answer.refusal.code]).toEqual([cosigner.index, false, code]);
  }
}

/** Returns the body of an `open` request with the newest protocol version. */
export function opening(request: unknown) {
  return { protocol: SUPPORTED_PROTOCOLS[0], request };
}

export function openBody(request: ThresholdSignRequest, signers: readonly number[]) {
  const { intent, attempt, approvals, policies } = request;
  return {
    signers,
    request: {
      intent: bytesToHex(intentBytes(intent)),
      payload: attempt.payload,
      attempt: attempt.number,
      purpose: attempt.purpose,
      approvals: approvals.map(({ actor: { userId, tokenId }, ...approval }) => ({
        actor: { userId, tokenId },
        ...approval,
      })),
      policyVersion: policies.at(-1)?.policy.version ?? 0,
      evidence: request.evidence,
    },
  };
}
