import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { NOT_SHOWN, outstandingJob, UNKNOWN_END_REASONS } from '#domain/transaction/job.ts';
import type { Transaction, TransactionState } from '#domain/transaction/transaction.ts';
import { isFinal, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { alice, EXPIRES_AT_MS, inclusion, OTHER_HASH, policy, PREPARED, transactionIn, UNSPENT } from '../cast.ts';
import { afterEvents, sentWith } from './step.ts';

/**
 * Covers every state with every reason that a transaction can wait in. Each has a way to its end:
 * by itself, or by a person where the end may never come by itself.
 */

const included = (differences: object = {}): TransactionEvent => ({
  type: 'include',
  inclusion: inclusion({ confirmations: 9, finalized: true, ...differences }),
  confirmationsNeeded: 3,
});
/**
 * The events of a cancellation that a block includes: a payment of zero to the wallet itself at the
 * same nonce.
 */
const CANCELLATION: readonly TransactionEvent[] = [
  { type: 'cancel', actor: alice },
  { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299', purpose: 'cancellation' } },
  { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH },
  { type: 'send', attempt: 2, outcome: 'accepted', answer: null },
  included({ hash: OTHER_HASH }),
];
const TIMEOUT: TransactionEvent = { type: 'failSigning', reason: 'SIGNING_TIMEOUT', detail: null };

interface Waiting {
  readonly reasons: readonly (string | null)[];
  readonly waiting: (reason: string | null) => Transaction;
  /** The events that end the transaction without a person, by the state they lead to. */
  readonly ways: Readonly<Record<string, readonly TransactionEvent[]>>;
  /**
   * The events by which a person ends the transaction, whatever the chain and its RPC nodes do.
   * Null if no person can.
   */
  readonly byPerson: (reason: string | null) => readonly TransactionEvent[] | null;
}

const WAITING: Readonly<Partial<Record<TransactionState, readonly Waiting[]>>> = {
  SIGNING: [
    {
      reasons: [
        null,
        'WALLET_BUSY',
        'CHAIN_UNAVAILABLE',
        'CHAIN_NOT_CONFIGURED',
        'NONCE_UNCONFIRMED',
        'FUNDS_IN_FLIGHT',
        'FEE_ABOVE_CAP',
        'SIGNER_UNAVAILABLE',
        'WAITS_FOR_NONCE',
      ],
      waiting: (stateReason) => transactionIn('SIGNING', { stateReason }),
      // The signing time-out passed, and nothing was signed.
      ways: { FAILED: [TIMEOUT] },
      byPerson: () => null,
    },
  ],
  BROADCAST: [
    {
      reasons: [
        null,
        'REBROADCASTING',
        'REFUSED_BY_NODE',
        'REORGED',
        'NODES_DISAGREE',
        'WAITS_FOR_NONCE',
        'FEE_ABOVE_CAP',
        'FEE_CAP_EXCEEDED',
        'SPEED_UP_NEEDED',
        'INSUFFICIENT_FUNDS',
        'SIGNERS_REFUSED',
        'NONCE_ACCOUNT_MISSING',
        'SIGNING_TIMEOUT',
        'PARENT_NOT_WAITING',
        'TOO_MANY_COINS',
        ...UNKNOWN_END_REASONS,
      ],
      waiting: (stateReason) => transactionIn('BROADCAST', { stateReason, attempts: [sentWith('refused')] }),
      ways: {
        SUCCEEDED: [included()],
        // Another transaction, which the RPC nodes name, has permanently used the nonce or a UTXO.
        FAILED: [{ type: 'miss', inMempool: false, nonceTaken: true }],
      },
      byPerson: (stateReason) => {
        const reason = UNKNOWN_END_REASONS.find((one) => one === stateReason);
        // Bytes that may be valid are cancelled first.
        return reason === undefined || reason === NOT_SHOWN
          ? CANCELLATION
          : [{ type: 'endUnknown', actor: alice, reason }];
      },
    },
    {
      // A further attempt is signed next. If it cannot be made, the record states one of the
      // reasons above.
      reasons: ['REPRICING', 'SIGNING_AGAIN'],
      waiting: (stateReason) =>
        transactionIn('BROADCAST', {
          stateReason,
          attempts: [sentWith(stateReason === 'REPRICING' ? 'underpriced' : 'lapsed')],
        }),
      ways: { SUCCEEDED: [included()] },
      byPerson: () => CANCELLATION,
    },
    {
      // No RPC node shows the cancellation either.
      reasons: [NOT_SHOWN],
      waiting: (stateReason) =>
        transactionIn('BROADCAST', { stateReason, cancelling: true, attempts: [sentWith('accepted')] }),
      ways: { SUCCEEDED: [included()] },
      byPerson: () => [{ type: 'endUnknown', actor: alice, reason: NOT_SHOWN }],
    },
    {
      // A cancellation is in flight: for a person, for the end that the intent names, or for the
      // transactions above the nonce.
      reasons: ['CANCELLING', 'NOT_AFTER_PASSED'],
      waiting: (stateReason) => transactionIn('BROADCAST', { stateReason, cancelling: true }),
      ways: { SUCCEEDED: [included()], CANCELLED: CANCELLATION.slice(1) },
      byPerson: () => null,
    },
  ],
  CONFIRMING: [
    {
      // A second RPC node that does not answer delays the end until it answers or is removed from
      // the configuration.
      reasons: [null, 'SECOND_NODE_AWAY'],
      waiting: (stateReason) =>
        transactionIn('CONFIRMING', { stateReason, inclusion: inclusion({ secondNode: 'away' }) }),
      ways: {
        SUCCEEDED: [included({ secondNode: 'agrees' })],
        // The configuration has one RPC node left, which reports the inclusion.
        'SUCCEEDED alone': [included()],
        // No RPC node shows the inclusion any more, so the bytes are sent again.
        BROADCAST: [{ type: 'miss', inMempool: false, nonceTaken: false }],
      },
      byPerson: () => null,
    },
    {
      reasons: ['NODES_DISAGREE'],
      waiting: (stateReason) =>
        transactionIn('CONFIRMING', { stateReason, inclusion: inclusion({ secondNode: 'disagrees' }) }),
      ways: {
        SUCCEEDED: [included({ secondNode: 'agrees' })],
        BROADCAST: [{ type: 'miss', inMempool: false, nonceTaken: false }],
      },
      byPerson: () => CANCELLATION,
    },
    {
      reasons: ['CANCELLING'],
      waiting: (stateReason) =>
        transactionIn('CONFIRMING', {
          stateReason,
          cancelling: true,
          attempts: [sentWith('accepted', { purpose: 'cancellation' })],
        }),
      ways: { CANCELLED: [included()] },
      byPerson: () => null,
    },
  ],
};

const rows = Object.entries(WAITING).flatMap(([state, kinds]) =>
  kinds.flatMap((kind) =>
    kind.reasons.map((reason) => ({ name: `${state} ${reason ?? 'without a reason'}`, reason, kind })),
  ),
);

test.each(rows)('$name reaches an end', ({ reason, kind }) => {
  const waiting = kind.waiting(reason);
  expect(outstandingJob(waiting)).not.toBeNull();
  for (const [end, events] of Object.entries(kind.ways)) {
    expect(afterEvents(waiting, ...events).state).toBe(end.split(' ')[0]);
  }
  const acts = kind.byPerson(reason);
  if (acts !== null) expect(isFinal(afterEvents(waiting, ...acts).state)).toBe(true);
});

test('a payment without a decision expires', () => {
  for (const state of ['DRAFT', 'SUBMITTED'] as const) {
    const decided = decide(
      transactionIn(state),
      { type: 'expire' },
      { nowMs: EXPIRES_AT_MS, policy, spentOf: UNSPENT },
    );
    expect(decided.ok && decided.value.transaction.state).toBe('EXPIRED');
  }
});

/** The reasons of transactions that have ended, or that end with the event. */
const OF_ENDS = [
  'CONFLICTED',
  'OVERTAKEN_BY_OWN',
  'FINAL_BLOCK_GONE',
  'CONTENTS_CORRECTED',
  'REVERTED',
  'TOKEN_NOT_MOVED',
  'TRANSFER_NOT_LOGGED',
  'CANCELLED_BY_USER',
  'CANCELLED_ON_CHAIN',
  'REJECTED_BY_SIGNER',
  'EXPIRED_UNDECIDED',
  'SIMULATION_REVERTED',
  'ALLOWANCE_NOT_ZERO',
  'RECIPIENT_REFUSED',
  'TOKEN_REFUSED',
  'NOTHING_TO_CONSOLIDATE',
];
/** Constants with the form of a reason that are not reasons. */
const NO_REASONS = ['BOUGHT', 'TRADED', 'MINTED', 'RECEIVED', 'UNKNOWN', 'MESSAGE', 'CONTRACT_INTERACTION'];

test('the table contains every reason of the code', () => {
  const files = globSync('src/{domain/transaction,domain/wallet,jobs/signing}/*.ts');
  const words = files.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=')[A-Z]+(?:_[A-Z]+)*(?=')/g) ?? []);
  const known = new Set<string | null>([
    ...TRANSACTION_STATES,
    ...rows.map(({ reason }) => reason),
    ...OF_ENDS,
    ...NO_REASONS,
  ]);
  expect(files.length).toBeGreaterThan(20);
  expect([...new Set(words)].filter((word) => word.length > 5 && !known.has(word))).toEqual([]);
});
