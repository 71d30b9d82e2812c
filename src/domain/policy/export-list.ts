import { canonicalBytes, type CanonicalField } from '#domain/canonical/bytes.ts';

/** One recovery package that a co-signer gave out. */
export interface ShareExport {
  /** Counts the exports of a key at one co-signer from 1, without a gap. */
  readonly seq: number;
  /** By the clock of the co-signer. */
  readonly atMs: number;
  readonly epoch: number;
  /** Hex of 32 bytes: the recovery key that the share was sealed for. */
  readonly recoveryKey: string;
}

/** What a co-signer says of the packages that it gave out of one key. */
export interface ExportList {
  readonly keyId: string;
  /** Number of the co-signer. */
  readonly node: number;
  /** Hex of 32 bytes, chosen by the reader: an answer to an earlier question does not hold a later export. */
  readonly nonce: string;
  /** Oldest first, up to the newest. */
  readonly exports: readonly ShareExport[];
}

/** The bytes that the identity of the co-signer signs. */
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
