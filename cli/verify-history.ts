import { readFileSync } from 'node:fs';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';

interface Page {
  readonly history: readonly (HistoryEntry & { readonly hash: string })[];
}

/** Returns the fault of the chain, or null. */
export function chainFault(lines: Page['history']): string | null {
  let previousHash = NO_PREVIOUS_ENTRY;
  for (const [i, { hash, ...entry }] of lines.entries()) {
    const name = `Line ${entry.seq} (${entry.action})`;
    if (entry.seq !== i + 1) return `${name} is at the position of line ${i + 1}.`;
    if (entry.previousHash !== previousHash) return `${name} does not follow the previous line.`;
    if (historyHash(entry) !== hash) return `${name} does not match its hash.`;
    previousHash = hash;
  }
  return null;
}

/**
 * Reads saved pages of `GET /vault/{vaultId}/history`, in order, and computes the chain of hashes
 * again, offline. Fails with the first line that does not match its hash.
 */
export const verifyHistoryCommand: Command = {
  usage: '  npm run conclave -- verify-history PAGE_FILE...     saved history pages, oldest first',
  run: async (files) => {
    if (files.length === 0) throw new UsageError('Provide the saved history pages, oldest first.');
    const lines = files.flatMap((file) => (JSON.parse(readFileSync(file, 'utf8')) as Page).history);
    const fault = chainFault(lines);
    if (fault !== null) throw new Error(fault);
    console.log(`Verified ${lines.length} lines. Last hash: ${lines.at(-1)?.hash ?? NO_PREVIOUS_ENTRY}`);
  },
};
