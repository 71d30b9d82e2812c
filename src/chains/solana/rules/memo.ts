import type { Instruction } from '@solana/kit';
import { address } from '@solana/kit';

/**
 * SPL Memo, version 2: it writes its data, which must be UTF-8, into the log of the transaction.
 */
const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** Both versions, as others write memos. */
export const MEMO_PROGRAMS: ReadonlySet<string> = new Set([
  MEMO_PROGRAM,
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
]);

/** Ours: enough for every exchange's reference, and a payment with it fits into a packet. */
const MAX_MEMO_BYTES = 256;

/**
 * Control and format characters, line breaks and lone surrogates: they make a memo look like
 * another text.
 */
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Returns what is wrong with the memo of a payment; null for a valid memo. */
export function memoFault(memo: string): string | null {
  if (memo.length === 0) return 'Must not be empty. Omit the field instead.';
  if (!memo.isWellFormed() || UNREADABLE.test(memo))
    return 'Must not contain invisible characters and must be well-formed Unicode.';
  const bytes = new TextEncoder().encode(memo).length;
  return bytes > MAX_MEMO_BYTES ? `Must have at most ${MAX_MEMO_BYTES} bytes in UTF-8.` : null;
}

/**
 * Returns the instruction that writes a memo. It names no signer: the wallet signs the whole
 * transaction.
 */
export function memoInstruction(memo: string): Instruction {
  return { programAddress: MEMO_PROGRAM, accounts: [], data: new TextEncoder().encode(memo) };
}
