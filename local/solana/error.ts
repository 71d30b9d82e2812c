import type { FailedTransactionMetadata } from 'litesvm';

/**
 * The errors by their numbers in litesvm, in the order of the SDK. It has those that a test can
 * meet; others keep their number.
 */
const TRANSACTION_ERRORS: Readonly<Record<number, string>> = {
  0: 'AccountInUse',
  2: 'AccountNotFound',
  3: 'ProgramAccountNotFound',
  4: 'InsufficientFundsForFee',
  5: 'InvalidAccountForFee',
  6: 'AlreadyProcessed',
  7: 'BlockhashNotFound',
  9: 'MissingSignatureForFee',
  11: 'SignatureFailure',
  12: 'InvalidProgramForExecution',
  13: 'SanitizeFailure',
  18: 'InvalidWritableAccount',
};

/**
 * Returns an error as an RPC node writes it: a name, or `{ "InstructionError": [0, { "Custom": 1 }]
 * }`.
 */
export function errorOf(error: ReturnType<FailedTransactionMetadata['err']>): unknown {
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? `Error${error}`;
  if ('accountIndex' in error) return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  if (!('err' in error)) return 'InstructionError';
  const inner = error.err();
  if (typeof inner === 'object' && 'code' in inner) return { InstructionError: [error.index, { Custom: inner.code }] };
  // litesvm returns these as numbers, with their names in its texts.
  const name = /error: ([A-Za-z]+)/.exec(String(error))?.[1] ?? `Error${String(inner)}`;
  return { InstructionError: [error.index, name] };
}
