import { resetStateAt } from '#domain/access/credential-reset.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Grant, PersonStorage } from '#objects/person/storage.ts';

/**
 * Returns why a grant issues nothing, or null. In order: `credential-reset-required` (for the
 * enrolment); `credential-reset-not-found`, `credential-reset-not-pending`,
 * `credential-reset-not-ready`.
 */
export function grantFault(storage: PersonStorage, grant: Grant, nowMs: number): Refusal | null {
  if (grant === 'enrolment') return storage.isEnrolled() ? { code: 'credential-reset-required' } : null;
  const reset = storage.resets.read(grant);
  if (reset === null) return { code: 'credential-reset-not-found' };
  const state = resetStateAt(reset, nowMs);
  if (state === 'COMPLETED' && nowMs < reset.expiresAtMs) return null;
  if (state === 'PENDING') return { code: 'credential-reset-not-ready', effectiveAtMs: reset.effectiveAtMs };
  if (state !== 'READY') return { code: 'credential-reset-not-pending', state };
  const behind = storage.vaultsBehind(reset.id, reset.version);
  return behind.length === 0 ? null : { code: 'credential-reset-not-ready', effectiveAtMs: null };
}
