import { readFileSync } from 'node:fs';
import type { HistoryEntry } from '#objects/vault/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/history.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';

interface Page {
  readonly history: readonly (HistoryEntry & { readonly hash: string })[];
}

/** What is wrong with the chain, or null. */
export function chainFault(lines: Page['history']): string | null {
  let previousHash = NO_PREVIOUS_ENTRY;
  for (const [i, { hash, ...entry }] of lines.entries()) {
    const name = `line ${entry.seq} (${entry.action})`;
    if (entry.seq !== i + 1) return `${name} stands where line ${i + 1} belongs`;
    if (entry.previousHash !== previousHash) return `${name} does not follow the line before`;
    if (historyHash(entry) !== hash) return `${name} is not what was hashed`;
    previousHash = hash;
  }
  return null;
}

/**
 * Reads saved pages of `GET /vault/{vaultId}/history`, in order, and computes the chain of hashes again, offline. Fails with
 * the first line that is not as it was hashed.
 */
export const verifyHistoryCommand: Command = {
  usage: '  npm run conclave -- verify-history PAGE_FILE...     saved pages of the history, the oldest first',
  run: async (files) => {
    if (files.length === 0) throw new UsageError('name the saved pages, the oldest first');
    const lines = files.flatMap((file) => (JSON.parse(readFileSync(file, 'utf8')) as Page).history);
    const fault = chainFault(lines);
    if (fault !== null) throw new Error(fault);
    console.log(`${lines.length} lines, unbroken. Last hash: ${lines.at(-1)?.hash ?? NO_PREVIOUS_ENTRY}`);
  },
};
