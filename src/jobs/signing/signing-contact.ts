import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';
import { isStale } from '#domain/transaction/unsigned-attempt.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/** How one run of the signing job contacts co-signers for one set of bytes. */
export interface SigningContact {
  /** Called when a group of co-signers is available and none has begun. */
  readonly mayStart: () => Promise<boolean>;
  /** Reports whether the bytes were too old when a group was available. */
  readonly isStale: () => boolean;
  /** Called when no signature resulted. */
  readonly end: () => Promise<void>;
}

/**
 * Records whether co-signers may have begun to sign unsigned bytes, because only bytes that none
 * has begun may be replaced for an outdated price. The run that prepares an attempt records at its
 * end that no co-signer has begun; every other run records before it begins that it does. So the
 * usual case, in which one run prepares and signs, stores nothing more.
 */
export function trackContact(
  vault: VaultDoors,
  { id }: Pick<Transaction, 'id'>,
  { attempt, run }: { readonly attempt: Attempt; readonly run: string },
): SigningContact {
  const { signingDigest } = attempt;
  const isOwn = attempt.preparedBy === run;
  const seen = { hasBegun: false, isStale: false };
  const mayStart = async (): Promise<boolean> => {
    if (isOwn || attempt.isAsked === true) seen.hasBegun = true;
    if (seen.hasBegun) return true;
    seen.isStale = isStale(attempt, Date.now());
    if (seen.isStale) return false;
    const after = await vault.report({ type: 'recordEvent', id, event: { type: 'ask', signingDigest } });
    const newest = after === null ? null : newestAttempt(after);
    seen.hasBegun = newest?.signingDigest === signingDigest && newest.signed === null;
    return seen.hasBegun;
  };
  const end = async (): Promise<void> => {
    if (isOwn && !seen.hasBegun)
      await vault.report({ type: 'recordEvent', id, event: { type: 'askInVain', signingDigest, run } });
  };
  return { mayStart, isStale: () => seen.isStale, end };
}
