import { getBase58Encoder } from '@solana/kit';
import { field, fieldsOf } from '#chains/solana/client/account-answers.ts';
import { untrustedText } from '#chains/untrusted-text.ts';
import { MEMO_PROGRAMS } from '#chains/solana/rules/memo.ts';

/** The longest memo of a record, in characters. Ours: a packet of the network has 1,232 bytes. */
const MAX_MEMO_LENGTH = 1_024;

/** The base58 text of as many bytes as a packet has. To decode a longer one would take long. */
const MAX_DATA_LENGTH = 1_700;

/**
 * Returns the memos of a transaction in the order of execution, one in a line; null without any.
 * Memos of programs that it calls count as well. Their text is untrusted: it loses characters that
 * are not visible or reorder others, so that a line break only separates two memos.
 *
 * @param accounts of the transaction, those of its tables included
 */
export function memoIn(transaction: unknown, meta: unknown, accounts: readonly string[]): string | null {
  const inner = new Map<string, readonly unknown[]>();
  for (const group of listOf(field(meta, 'innerInstructions'))) {
    inner.set(String(field(group, 'index')), listOf(field(group, 'instructions')));
  }
  const lines: string[] = [];
  for (const [i, instruction] of listOf(field(field(transaction, 'message'), 'instructions')).entries()) {
    lines.push(...[instruction, ...(inner.get(String(i)) ?? [])].flatMap((one) => textOf(one, accounts)));
  }
  const text = lines.join('\n');
  return text === '' ? null : [...text].slice(0, MAX_MEMO_LENGTH).join('');
}

function textOf(instruction: unknown, accounts: readonly string[]): readonly string[] {
  const { programIdIndex, data } = fieldsOf(instruction);
  const program = accounts[Number.parseInt(String(programIdIndex), 10)] ?? '';
  if (!MEMO_PROGRAMS.has(program) || typeof data !== 'string' || data.length > MAX_DATA_LENGTH) return [];
  if (!/^[1-9A-HJ-NP-Za-km-z]*$/.test(data)) return [];
  const text = untrustedText(Uint8Array.from(getBase58Encoder().encode(data)), MAX_MEMO_LENGTH);
  return text === null ? [] : [text];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
