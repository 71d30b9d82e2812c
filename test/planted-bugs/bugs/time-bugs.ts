import { type Bug, domain } from '../bug.ts';

/** Bugs in the expiry of a transaction's intent. */
export const TIME_BUGS: readonly Bug[] = [
  {
    name: 'time: the end of a payment is no part of what is approved',
    file: 'src/domain/transaction/intent.ts',
    was: "...(endMs === null ? [] : [['notAfterMs', String(endMs)] as const]),",
    is: '',
    caughtBy: domain('transaction/intent'),
  },
  {
    name: 'time: co-signers sign a payment after its end',
    file: 'src/domain/transaction/intent.ts',
    was: 'return Math.min(intent.expiresAtMs + SIGNING_GRACE_MS, endOf(intent) ?? Infinity);',
    is: 'return intent.expiresAtMs + SIGNING_GRACE_MS;',
    caughtBy: ['test/cosigner/policy/approval-check.test.ts'],
  },
  {
    name: 'time: a payment is cancelled before its end',
    file: 'src/domain/transaction/not-after.ts',
    was: 'cancelling || !isPastNotAfterTime(intent, nowMs) ||',
    is: 'cancelling ||',
    caughtBy: domain('transaction/not-after'),
  },
  {
    name: 'time: a cancellation that cannot be had is requested at each poll',
    file: 'src/domain/transaction/not-after.ts',
    was: 'nowMs - endedByTimeAtMs >= RETRY_MS',
    is: 'nowMs >= endedByTimeAtMs',
    caughtBy: domain('transaction/not-after'),
  },
  {
    name: 'time: bytes that were not recorded as sent are given up',
    file: 'src/domain/transaction/not-after.ts',
    was: 'times: 0,',
    is: 'times: 1,',
    caughtBy: domain('transaction/not-after'),
  },
  {
    name: 'time: a payment is sent again after its end',
    file: 'src/domain/transaction/inclusion-steps.ts',
    was: "if (newest.purpose === 'intent' && isPastNotAfterTime(transaction.intent, nowMs)) return healed;",
    is: '',
    caughtBy: domain('transaction/not-after'),
  },
  {
    name: 'time: a payment that could never be carried out is created',
    file: 'src/objects/vault/writes/creation-check.ts',
    was: 'notAfterMs !== null && notAfterMs <= nowMs',
    is: 'notAfterMs !== null && notAfterMs < 0',
    caughtBy: ['test/http/transaction/transfer.worker.test.ts'],
  },
  {
    name: 'time: a payment is decided after its end',
    file: 'src/objects/vault/writes/new-transaction.ts',
    was: ', notAfterMs ?? Infinity),',
    is: ', Infinity),',
    caughtBy: ['test/http/transaction/transfer.worker.test.ts'],
  },
  {
    name: 'time: the approval page hides the end',
    file: 'src/review/describe-intent.ts',
    was: "...(notAfterMs === undefined ? [] : [{ label: 'Not after', text: timeText(notAfterMs) }]),",
    is: '',
    caughtBy: ['test/review/describe.test.ts'],
  },
];
