import { expect, test } from 'vitest';
import type { EventType, TransactionEvent } from '#domain/transaction/event.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';
import { TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import {
  alice,
  bob,
  carol,
  DIGEST,
  EXPIRES_AT_MS,
  HASH,
  inclusion,
  NOON_MS,
  policy,
  PREPARED,
  preparedAttempt,
  transactionIn,
  UNSPENT,
} from '../cast.ts';

/** One event of each type, chosen for its largest effect. */
const EVENTS: { readonly [E in EventType]: TransactionEvent } = {
  approve: { type: 'approve', actor: carol, device: null, digest: DIGEST },
  reject: { type: 'reject', actor: carol, device: null },
  cancel: { type: 'cancel', actor: alice },
  endUnknown: { type: 'endUnknown', actor: alice, reason: 'COIN_UNKNOWN' },
  speedUp: { type: 'speedUp', actor: alice },
  reprice: { type: 'reprice', attempt: 1, obstacle: null },
  ask: { type: 'ask', signingDigest: PREPARED.signingDigest },
  askInVain: { type: 'askInVain', signingDigest: PREPARED.signingDigest, run: 'first' },
  abandonReplacement: { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' },
  setVisibility: { type: 'setVisibility', actor: alice, visible: false },
  dropVotes: { type: 'dropVotes', policy: { ...policy, signers: [bob.userId, carol.userId] }, disabledAccess: [] },
  expire: { type: 'expire' },
  prepare: { type: 'prepare', attempt: PREPARED },
  delaySigning: { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' },
  failSigning: { type: 'failSigning', reason: 'INSUFFICIENT_FUNDS', detail: null },
  fillNonce: { type: 'fillNonce', reason: 'INSUFFICIENT_FUNDS', detail: null },
  cancelUnsigned: { type: 'cancelUnsigned' },
  sign: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH },
  signMessage: { type: 'signMessage', signature: '0x5151' },
  send: { type: 'send', attempt: 1, outcome: 'unknown', answer: 'timeout' },
  refuseBroadcast: { type: 'refuseBroadcast', attempt: 1, answer: 'intrinsic gas too low' },
  waitForNonce: { type: 'waitForNonce', blocker: { transactionId: transactionIn('SUBMITTED').id } },
  include: { type: 'include', inclusion: inclusion({ confirmations: 9, finalized: true }), confirmationsNeeded: 3 },
  miss: { type: 'miss', inMempool: false, nonceTaken: false },
  unshown: { type: 'unshown' },
  gone: { type: 'gone' },
  correct: { type: 'correct', inclusion: inclusion({ finalized: true, secondNode: 'agrees' }) },
  endByTime: { type: 'endByTime' },
  watch: { type: 'watch' },
  lapse: { type: 'lapse', attempt: 1 },
  settle: { type: 'settle' },
};

/**
 * The result of each event in each state. A state name is the state after the event, which changes
 * some field. `no` is the refusal of a person's request. A dot is a late message of a job, which
 * changes nothing.
 */
const MATRIX: Record<EventType, Record<TransactionState, string>> = {
  // The columns are the states DRAFT, SUBMITTED, SIGNING, BROADCAST, CONFIRMING, SUCCEEDED, FAILED,
  // REJECTED, CANCELLED and EXPIRED.
  approve: row(
    '     DRAFT        SUBMITTED    no           no            no           no           no           no       no        no',
  ),
  reject: row(
    '      REJECTED     REJECTED     no           no            no           no           no           no       no        no',
  ),
  cancel: row(
    '      CANCELLED    CANCELLED    SIGNING      BROADCAST     no           no           no           no       no        no',
  ),
  // The transactions of this row have known UTXOs. unknown-end.test.ts covers unknown ones.
  endUnknown: row(
    '  no           no           no           no            no           no           no           no       no        no',
  ),
  speedUp: row(
    '     no           no           no           BROADCAST     no           no           no           no       no        no',
  ),
  reprice: row(
    '     .            .            .            BROADCAST     .            .            .            .        .         .',
  ),
  ask: row(
    '         .            .            SIGNING      .             .            .            .            .        .         .',
  ),
  askInVain: row(
    '   .            .            SIGNING      .             .            .            .            .        .         .',
  ),
  // In this row the attempt was accepted, so there is no replacement to abandon. transition.test.ts
  // has an underpriced attempt.
  abandonReplacement: row(
    '.         .            .            .             .            .            .            .        .         .',
  ),
  setVisibility: row(
    'DRAFT       SUBMITTED    SIGNING      BROADCAST     CONFIRMING   SUCCEEDED    FAILED       REJECTED CANCELLED EXPIRED',
  ),
  dropVotes: row(
    '    .            .            .            .             .            .            .            .        .         .',
  ),
  expire: row(
    '      EXPIRED      EXPIRED      .            .             .            .            .            .        .         .',
  ),
  prepare: row(
    '     .            .            SIGNING      .             .            .            .            .        .         .',
  ),
  delaySigning: row(
    '.            .            SIGNING      .             .            .            .            .        .         .',
  ),
  failSigning: row(
    ' .            .            FAILED       .             .            .            .            .        .         .',
  ),
  fillNonce: row(
    '   .            .            SIGNING      .             .            .            .            .        .         .',
  ),
  // The transactions of this row were not cancelled. exit-from-signing.test.ts has cancelled ones.
  cancelUnsigned: row(
    '.          .            .            .             .            .            .            .        .         .',
  ),
  sign: row(
    '        .            .            BROADCAST    .             .            .            .            .        .         .',
  ),
  // The transactions of this row are transfers. transition.test.ts has a message.
  signMessage: row(
    ' .            .            .            .             .            .            .            .        .         .',
  ),
  send: row(
    '        .            .            .            BROADCAST     .            .            .            .        .         .',
  ),
  refuseBroadcast: row(
    '.         .            .            BROADCAST     .            .            .            .        .         .',
  ),
  waitForNonce: row(
    '.            .            SIGNING      BROADCAST     .            .            .            .        .         .',
  ),
  // The intents of this row name no end. not-after.test.ts has intents with an end.
  endByTime: row(
    '   .            .            .            .             .            .            .            .        .         .',
  ),
  include: row(
    '     .            .            .            SUCCEEDED     SUCCEEDED    SUCCEEDED    SUCCEEDED    .        .         .',
  ),
  miss: row(
    '        .            .            .            BROADCAST     BROADCAST    BROADCAST    BROADCAST    .        .         .',
  ),
  // The transactions of this row have an inclusion. given-up.test.ts has those without.
  watch: row(
    '       .            .            .            .             .            .            .            .        .         .',
  ),
  // The blocks of this row are not final. inclusion tests cover final ones.
  gone: row(
    '.         .            .            .             .            .            .            .        .         .',
  ),
  correct: row(
    '       .            .            .            .             .            .            .            .        .         .',
  ),
  unshown: row(
    '       .            .            .            BROADCAST     .            .            .            .        .         .',
  ),
  lapse: row(
    '       .            .            .            BROADCAST     .            .            .            .        .         .',
  ),
  settle: row(
    '      .            .            .            .             .            .            .            .        .         .',
  ),
};

function row(cells: string): Record<TransactionState, string> {
  const names = cells.trim().split(/\s+/);
  return Object.fromEntries(TRANSACTION_STATES.map((state, i) => [state, names[i] ?? '?'])) as Record<
    TransactionState,
    string
  >;
}

for (const [type, cells] of Object.entries(MATRIX)) {
  for (const [name, expected] of Object.entries(cells)) {
    test(`${type} in ${name} gives ${expected}`, () => {
      const state = TRANSACTION_STATES.find((candidate) => candidate === name) ?? 'DRAFT';
      const event = EVENTS[type as EventType];
      const isOfBytes = ['sign', 'ask', 'askInVain'].includes(event.type);
      const attempts =
        isOfBytes && state === 'SIGNING' ? { attempts: [{ ...preparedAttempt(), preparedBy: 'first' }] } : {};
      const before = transactionIn(state, attempts);
      const nowMs = event.type === 'expire' ? EXPIRES_AT_MS : NOON_MS;
      const decided = decide(before, event, { nowMs, policy, spentOf: UNSPENT });
      if (expected === 'no') {
        const isKnown = type === 'endUnknown' && state === 'BROADCAST';
        const late = type === 'speedUp' ? 'transaction-not-broadcast' : 'transaction-not-pending';
        const code = isKnown ? 'end-not-unknown' : late;
        expect(decided).toEqual({ ok: false, refusal: { code, state } });
      } else if (expected === '.') {
        expect(decided).toEqual({ ok: true, value: { transaction: before, changed: false, effects: [] } });
      } else {
        if (!decided.ok) throw new Error(decided.refusal.code);
        expect(decided.value.changed).toBe(true);
        expect(decided.value.transaction.state).toBe(expected);
        expect(decided.value.transaction.version).toBe(before.version + 1);
      }
    });
  }
}
