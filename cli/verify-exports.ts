import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ShareExport } from '#domain/policy/export-list.ts';
import { exportListBytes } from '#domain/policy/export-list.ts';
import type { SignedExportList } from '#cosigner-client/export-lists.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { EXPORT_REQUESTED } from '#objects/vault/writes/recovery-exports.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';
import type { SigningKeys } from './peers-file.ts';
import { isSignedBy, signingKeysIn } from './peers-file.ts';
import { chainFault } from './verify-history.ts';

/**
 * Clocks of two accounts may differ, and the last co-signer is called some seconds after the line
 * was written.
 */
const TOLERANCE_MS = 5 * 60_000;

export interface ExportAudit {
  /** The nonce that the reader sent with the request. */
  readonly nonce: string;
  /** As the reader has them from the deployment. */
  readonly signingKeys: SigningKeys;
  readonly keyIds: readonly string[];
  readonly history: readonly Pick<HistoryEntry, 'action' | 'detail' | 'atMs'>[];
}

/**
 * Returns a text for each fault of the lists: none when every co-signer signed one, and each export
 * has a line in the history.
 */
export function exportFaults(lists: readonly SignedExportList[], audit: ExportAudit): readonly string[] {
  const faults: string[] = [];
  for (const keyId of audit.keyIds) {
    for (const [node, signingKey] of audit.signingKeys) {
      const who = `co-signer ${node}, key ${keyId}`;
      const list = lists.find((one) => one.keyId === keyId && one.node === node);
      if (list === undefined) faults.push(`${who}: no list`);
      else if (list.nonce !== audit.nonce) faults.push(`${who}: the list has another nonce`);
      else if (!isSignedBy(signingKey, list.signature, exportListBytes(list)))
        faults.push(`${who}: the signature is not valid`);
      else faults.push(...hiddenExports(list.exports, keyId, audit.history).map((when) => `${who}: ${when}`));
    }
  }
  return faults;
}

/** Every export needs its own line: one line does not cover two packages of one co-signer. */
function hiddenExports(
  exports: readonly ShareExport[],
  keyId: string,
  history: ExportAudit['history'],
): readonly string[] {
  const lines = history.filter(({ action, detail }) => action === EXPORT_REQUESTED && detail === keyId);
  const unused = new Set(lines);
  const hidden: string[] = [];
  for (const { seq, atMs, epoch } of exports) {
    const line = [...unused].find((one) => Math.abs(one.atMs - atMs) <= TOLERANCE_MS);
    if (line !== undefined) unused.delete(line);
    else hidden.push(`export ${seq} of epoch ${epoch} at ${new Date(atMs).toISOString()} is not in the history`);
  }
  return hidden;
}

/**
 * Compares the exports that the co-signers report (`GET
 * /vault/{vaultId}/recovery-exports?nonce=HEX`, with a nonce of this reader) with the saved pages
 * of the vault's history. Fails with each export that is not in the history.
 */
export const verifyExportsCommand: Command = {
  usage:
    '  npm run conclave -- verify-exports --peers FILE --nonce HEX --lists FILE PAGE_FILE...     --peers: the PEERS setting of the co-signers',
  run: async (args) => compareExports(args),
};

function compareExports(args: readonly string[]): void {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { peers: text, nonce: text, lists: text },
    allowPositionals: true,
  });
  const { peers, nonce, lists: listsFile } = values;
  if (peers === undefined || nonce === undefined || listsFile === undefined || positionals.length === 0) {
    throw new UsageError(
      'Options --peers, --nonce and --lists and the saved history pages (oldest first) are required.',
    );
  }
  const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
  const { lists } = read(listsFile) as { readonly lists: readonly SignedExportList[] };
  const lines = positionals.flatMap((file) => (read(file) as { history: Parameters<typeof chainFault>[0] }).history);
  const broken = chainFault(lines);
  if (broken !== null) throw new Error(broken);
  // The keys that the history names, and those that the co-signers name.
  const named = lines.filter(({ action }) => action === 'key').flatMap(({ detail }) => detail ?? []);
  const audit = {
    nonce,
    signingKeys: signingKeysIn(peers),
    keyIds: [...new Set([...named, ...lists.map(({ keyId }) => keyId)])],
    history: lines,
  };
  if (audit.keyIds.length === 0) throw new Error('Neither the history nor the lists contain a key.');
  const faults = exportFaults(lists, audit);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  console.log(`Verified ${lists.length} lists. Each export is in the history.`);
}
