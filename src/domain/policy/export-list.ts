import { canonicalBytes, type CanonicalField } from '#domain/canonical/bytes.ts';

/** One recovery package that a co-signer exported. */
export interface ShareExport {
  /** Counts the exports of a key at one co-signer from 1, without a gap. */
  readonly seq: number;
  /** By the clock of the co-signer. */
  readonly atMs: number;
  readonly epoch: number;
  /** Hex of 32 bytes: the recovery key that the share was sealed for. */
  readonly recoveryKey: string;
}

/** A co-signer's signed list of the packages that it exported of one key. */
export interface ExportList {
  readonly keyId: string;
  /** Number of the co-signer. */
  readonly node: number;
  /**
   * Hex of 32 bytes, chosen by the reader. Therefore an answer to an earlier request cannot hide a
   * later export.
   */
  readonly nonce: string;
  /** Oldest first, up to the newest. */
  readonly exports: readonly ShareExport[];
}

/** Returns the bytes that the co-signer signs with its identity key. */
export function exportListBytes({ keyId, node, nonce, exports }: ExportList): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/export-list/v1', [
    ['keyId', keyId],
    ['node', String(node)],
    ['nonce', nonce],
    ['count', String(exports.length)],
    ...exports.flatMap(({ seq, atMs, epoch, recoveryKey }): readonly CanonicalField[] => [
      ['seq', String(seq)],
      ['atMs', String(atMs)],
      ['epoch', String(epoch)],
      ['recoveryKey', recoveryKey],
    ]),
  ]);
}
