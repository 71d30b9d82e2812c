import { getBase58Decoder } from '@solana/kit';
import { expect, test } from 'vitest';
import { memoIn } from '#chains/solana/client/memo-answers.ts';

const [MEMO, OLD_MEMO, SYSTEM] = [
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  '11111111111111111111111111111111',
];
const ACCOUNTS = [MEMO, OLD_MEMO, SYSTEM];

const says = (program: string, text: string | Uint8Array) => ({
  // An answer is read with whole numbers as BigInt.
  programIdIndex: BigInt(ACCOUNTS.indexOf(program)),
  data: getBase58Decoder().decode(typeof text === 'string' ? new TextEncoder().encode(text) : text),
});

const withInstructions = (...instructions: readonly unknown[]) => ({ message: { instructions } });

test.each<[string, readonly unknown[], string | null]>([
  ['one memo', [says(SYSTEM, 'x'), says(MEMO, '104729')], '104729'],
  ['the older program', [says(OLD_MEMO, 'invoice 7')], 'invoice 7'],
  ['several, in their order', [says(MEMO, 'a'), says(SYSTEM, 'x'), says(OLD_MEMO, 'b'), says(MEMO, 'a')], 'a\nb\na'],
  ['characters that are not visible', [says(MEMO, ' a\nb\u202ec\u0000 ')], 'abc'],
  ['no text', [says(MEMO, ''), says(MEMO, '\u200b ')], null],
  ['bytes that are no text', [says(MEMO, Uint8Array.of(0x61, 0xff))], 'a\ufffd'],
  ['an emoji at the cut', [says(MEMO, `${'a'.repeat(1_023)}\u{1f600}b`)], `${'a'.repeat(1_023)}\u{1f600}`],
  ['a text longer than a packet', [says(MEMO, 'a'.repeat(5_000)), says(MEMO, 'b')], 'b'],
  ['data that is no base58', [{ programIdIndex: 0n, data: '0OIl' }], null],
  ['a program that is no account', [{ programIdIndex: 9n, data: 'a' }, null, 7, { data: 'a' }], null],
  ['no memo', [says(SYSTEM, 'x')], null],
])('the memo of a transaction with %s', (_name, instructions, memo) => {
  expect(memoIn(withInstructions(...instructions), {}, ACCOUNTS)).toBe(memo);
});

test('memos of called programs follow the instruction that called them', () => {
  const innerInstructions = [
    { index: 1n, instructions: [says(MEMO, 'inner')] },
    { index: 0n, instructions: [says(SYSTEM, 'x'), says(MEMO, 'first')] },
  ];
  const transaction = withInstructions(says(SYSTEM, 'x'), says(MEMO, 'outer'), says(MEMO, 'last'));
  expect(memoIn(transaction, { innerInstructions }, ACCOUNTS)).toBe('first\nouter\ninner\nlast');
  for (const meta of [null, { innerInstructions: null }, { innerInstructions: [null] }]) {
    expect(memoIn(transaction, meta, ACCOUNTS)).toBe('outer\nlast');
  }
  expect(memoIn(null, null, ACCOUNTS)).toBeNull();
});
