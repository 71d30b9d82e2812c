import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Actor } from '#domain/transaction/transaction.ts';

/**
 * One line of a vault's audit history: who did what to which digest, and when. Each line holds the hash of the line before,
 * so that nobody can take one out, put one in or reorder two without every later hash changing.
 */
export interface HistoryEntry {
  readonly seq: number;
  /** Null for what concerns the vault itself. */
  readonly transactionId: string | null;
  /** The version of the record after this step; 0 for the vault itself. Exactly one line per version. */
  readonly version: number;
  readonly action: string;
  /** Null for the service itself. */
  readonly actor: Actor | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly reason: string | null;
  /** The intent digest of the transaction, or the hash of the policy. */
  readonly digest: string | null;
  readonly detail: string | null;
  readonly atMs: number;
  readonly previousHash: string;
}

export const NO_PREVIOUS_ENTRY = '0'.repeat(64);

/** Lower-case hex SHA-256 over every field of the entry. */
export function historyHash(entry: HistoryEntry): string {
  return bytesToHex(
    sha256(
      canonicalBytes('conclave/history/v1', [
        ['seq', String(entry.seq)],
        ['transactionId', entry.transactionId],
        ['version', String(entry.version)],
        ['action', entry.action],
        ['userId', entry.actor?.userId ?? null],
        ['tokenId', entry.actor?.tokenId ?? null],
        ['address', entry.actor?.address ?? null],
        ['from', entry.from],
        ['to', entry.to],
        ['reason', entry.reason],
        ['digest', entry.digest],
        ['detail', entry.detail],
        ['atMs', String(entry.atMs)],
        ['previousHash', entry.previousHash],
      ]),
    ),
  );
}
