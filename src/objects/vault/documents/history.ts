import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Actor } from '#domain/access/approval.ts';

/**
 * One entry of a vault's audit history: the actor, the action, the digest and the time. Each entry
 * holds the hash of the one before. Therefore removing, inserting or reordering entries changes
 * every later hash.
 */
export interface HistoryEntry {
  readonly seq: number;
  /** Null for an entry about the vault itself. */
  readonly transactionId: string | null;
  /**
   * The version of the record after this step; 0 for the vault itself. There is exactly one entry
   * for each version.
   */
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

/** Returns the lower-case hex SHA-256 over every field of the entry. */
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
