import { parseVaultId } from '#domain/id.ts';
import type { VaultId } from '#domain/id.ts';
import type { HistoryPosition } from '#objects/vault/tables/history-table.ts';

/** The last change of each vault that a client received. A vault without one is not there. */
export type FeedPositions = ReadonlyMap<VaultId, HistoryPosition>;

/** The first byte, so that the content can change. */
const FORMAT = 1;
/**
 * The bytes of each hash that a cursor has. They find a history that was set back to an earlier
 * state; the hashes of the changes prove it.
 */
const HASH_BYTES = 2;
/** A number of seven bits in each byte, above every id and length. */
const MAX_NUMBER_BYTES = 8;

/**
 * Returns the positions as an opaque text, at most four characters for three bytes: the vaults in
 * the order of their ids, each as the difference to the one before, its number and its hash.
 */
export function feedCursor(positions: FeedPositions): string {
  const bytes = [FORMAT];
  let before = 0;
  for (const [vaultId, { seq, hash }] of [...positions].toSorted(([one], [other]) => one - other)) {
    bytes.push(...numberBytes(vaultId - before), ...numberBytes(seq));
    bytes.push(...Buffer.from(hash.slice(0, 2 * HASH_BYTES), 'hex'));
    before = vaultId;
  }
  return Buffer.from(bytes).toString('base64url');
}

/** Returns the positions in a cursor; null for a text that `feedCursor` does not return. */
export function positionsIn(cursor: string): FeedPositions | null {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes[0] !== FORMAT) return null;
  const positions = new Map<VaultId, HistoryPosition>();
  let at = 1;
  const number = () => {
    let value = 0;
    for (let i = 0; i < MAX_NUMBER_BYTES; i++) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) break;
    }
    return value;
  };
  let id = 0;
  while (at < bytes.length) {
    id += number();
    const seq = number();
    const hash = bytes.subarray(at, (at += HASH_BYTES)).toString('hex');
    const vaultId = parseVaultId(id);
    if (vaultId === null || seq === 0 || at > bytes.length) return null;
    positions.set(vaultId, { seq, hash });
  }
  // One text for each content: other spellings are refused.
  return feedCursor(positions) === cursor ? positions : null;
}

function numberBytes(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}
