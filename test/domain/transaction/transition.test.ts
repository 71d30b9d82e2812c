import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { finalityOf, isFinal, transactionHash } from '#domain/transaction/transaction.ts';
import type { Decision } from '#domain/transaction/transition.ts';
import { decide, effectsOfCreation } from '#domain/transaction/transition.ts';
import {
  alice,
  amount,
  bob,
  carol,
  DIGEST,
  EXPIRES_AT_MS,
  HASH,
  inclusion,
  mallory,
  messageIntent,
  NOON_MS,
  OTHER_HASH,
  policy,
  PREPARED,
  preparedAttempt,
  sentAttempt,
  signedAttempt,
  transactionIn,
  UNSPENT,
  approvalBy,
} from '../cast.ts';

const now = { nowMs: NOON_MS, policy, spentOf: UNSPENT };

function after(transaction: Transaction, event: TransactionEvent, context = now): Decision {
  const decided = decide(transaction, event, context);
  if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
  return decided.value;
}

const approves = (actor: typeof alice): TransactionEvent => ({ type: 'approve', actor, device: null, digest: DIGEST });

test('a new transaction enqueues its own expiry', () => {
  expect(effectsOfCreation(transactionIn('DRAFT'))).toEqual([{ type: 'start', job: 'expire' }]);
});

test('a transaction without a pending job completes no job, and one that ends at once enqueues none', () => {
  expect(effectsOfCreation(transactionIn('REJECTED'))).toEqual([]);
  const settled = transactionIn('SUCCEEDED', { inclusion: inclusion({ finalized: true }), nonceHeld: false });
  const elsewhere = inclusion({ blockHash: `0x${'b2'.repeat(32)}`, confirmations: 3 });
  const moved = after(settled, { type: 'include', inclusion: elsewhere, confirmationsNeeded: 3 });
  expect(moved.effects).toEqual([{ type: 'start', job: 'confirm' }]);
});

test('an approval below the threshold changes only the number of approvals', () => {
  const { transaction, effects } = after(transactionIn('SUBMITTED'), approves(alice));
  expect(transaction.state).toBe('SUBMITTED');
  expect(transaction.approvals).toEqual([{ actor: alice, digest: DIGEST, device: null, atMs: NOON_MS }]);
  expect(effects).toEqual([]);
});

test('the approval that meets the threshold starts exactly one signing and ends the expiry', () => {
  const once = after(transactionIn('SUBMITTED'), approves(alice)).transaction;
  const { transaction, effects } = after(once, approves(bob));
  expect(transaction.state).toBe('SIGNING');
  expect(effects).toEqual([
    { type: 'finish', job: 'expire' },
    { type: 'start', job: 'sign' },
  ]);
});

test('a message holds no nonce, and ends with its signature', () => {
  const pending = transactionIn('SUBMITTED', { intent: messageIntent() });
  const once = after(pending, approves(alice)).transaction;
  const signing = after(once, approves(bob)).transaction;
  expect([signing.state, signing.nonceHeld, outstandingJob(signing)]).toEqual(['SIGNING', false, 'sign']);
  const { transaction, effects } = after(signing, { type: 'signMessage', signature: '0x5151' });
  expect([transaction.state, transaction.signature, outstandingJob(transaction)]).toEqual([
    'SUCCEEDED',
    '0x5151',
    null,
  ]);
  expect(effects).toEqual([{ type: 'finish', job: 'sign' }]);
  expect(after(transaction, { type: 'signMessage', signature: '0x5252' }).changed).toBe(false);
});

test('a message that its signers refuse fails and has no pending job', () => {
  const signing = transactionIn('SIGNING', { intent: messageIntent(), nonceHeld: false });
  const { transaction } = after(signing, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null });
  expect([transaction.state, outstandingJob(transaction)]).toEqual(['FAILED', null]);
});

test('a message signature does not end a transfer', () => {
  expect(after(transactionIn('SIGNING'), { type: 'signMessage', signature: '0x5151' }).changed).toBe(false);
});

test('a draft is decided like a submitted transaction', () => {
  const once = after(transactionIn('DRAFT'), approves(alice)).transaction;
  expect(after(once, approves(bob)).transaction.state).toBe('SIGNING');
});

test('two approvals of one person count once, whichever tokens they come with', () => {
  const once = after(transactionIn('SUBMITTED'), approves(alice)).transaction;
  const again = after(once, approves({ ...alice, tokenId: bob.tokenId }));
  expect(again.changed).toBe(false);
  expect(again.transaction.state).toBe('SUBMITTED');
});

test('an approval of a user who is not a signer does not count', () => {
  const once = after(transactionIn('SUBMITTED'), approves(alice)).transaction;
  expect(after(once, approves(mallory)).transaction.state).toBe('SUBMITTED');
});

test('an approval of another intent is a fault of the caller', () => {
  const event = { type: 'approve', actor: alice, device: null, digest: 'ee'.repeat(32) } as const;
  expect(() => decide(transactionIn('SUBMITTED'), event, now)).toThrow('not for the digest of its transaction');
});

test('an approval at the millisecond of the expiry is refused, and one a millisecond earlier is accepted', () => {
  const pending = transactionIn('SUBMITTED');
  const late = decide(pending, approves(alice), { ...now, nowMs: EXPIRES_AT_MS });
  expect(late).toEqual({ ok: false, refusal: { code: 'transaction-not-pending', state: 'EXPIRED' } });
  expect(after(pending, approves(alice), { ...now, nowMs: EXPIRES_AT_MS - 1 }).changed).toBe(true);
});

test('the approval of a removed signer no longer counts', () => {
  const withApprovals = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const without: Policy = { ...policy, version: 2, signers: [bob.userId, carol.userId] };
  expect(after(withApprovals, approves(bob), { ...now, policy: without }).transaction.state).toBe('SUBMITTED');
  const dropped = after(
    withApprovals,
    { type: 'dropVotes', policy: without, disabledAccess: [] },
    { ...now, policy: without },
  );
  expect(dropped.transaction.approvals).toEqual([]);
});

test('a lowered threshold does not approve an earlier transaction', () => {
  const lowered: Policy = { ...policy, version: 2, threshold: 1 };
  const { transaction } = after(transactionIn('SUBMITTED'), approves(alice), { ...now, policy: lowered });
  expect(transaction.state).toBe('SUBMITTED');
});

test('a raised threshold applies to pending transactions', () => {
  const raised: Policy = { ...policy, version: 2, threshold: 3 };
  const withApproval = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const context = { ...now, policy: raised };
  const two = after(withApproval, approves(bob), context).transaction;
  expect(two.state).toBe('SUBMITTED');
  expect(after(two, approves(carol), context).transaction.state).toBe('SIGNING');
});

test('a signer who approved may still reject, and one rejection ends the transaction', () => {
  const withApproval = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const { transaction, effects } = after(withApproval, { type: 'reject', device: null, actor: alice });
  expect(transaction.state).toBe('REJECTED');
  expect(transaction.rejection?.actor).toEqual(alice);
  expect(effects).toEqual([{ type: 'finish', job: 'expire' }]);
});

test('the bytes to sign are prepared once, and a second run of the job uses the same bytes', () => {
  const signing = transactionIn('SIGNING');
  const prepared = after(signing, { type: 'prepare', attempt: PREPARED }).transaction;
  const again = after(prepared, { type: 'prepare', attempt: { ...PREPARED, payload: '0x0203', nonce: '5' } });
  expect(again.changed).toBe(false);
  expect(prepared.attempts).toEqual([{ ...preparedAttempt(), preparedAtMs: NOON_MS }]);
});

test('a signature is stored once, and a second one over the same bytes changes nothing', () => {
  const signing = transactionIn('SIGNING', { attempts: [preparedAttempt()] });
  const signed = after(signing, { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH });
  expect(signed.effects).toEqual([
    { type: 'finish', job: 'sign' },
    { type: 'start', job: 'broadcast' },
  ]);
  expect(after(signed.transaction, { type: 'sign', attempt: 1, raw: '0x02ee', hash: OTHER_HASH }).changed).toBe(false);
});

test('the signing job cannot fail a transaction that has a signature', () => {
  const signed = transactionIn('SIGNING', { attempts: [signedAttempt()] });
  expect(after(signed, { type: 'failSigning', reason: 'SIGNING_TIMEOUT', detail: null }).changed).toBe(false);
});

test('a failure before signing releases the nonce', () => {
  const { transaction, effects } = after(transactionIn('SIGNING'), {
    type: 'failSigning',
    reason: 'INSUFFICIENT_FUNDS',
    detail: null,
  });
  expect(transaction.stateReason).toBe('INSUFFICIENT_FUNDS');
  expect(effects).toEqual([
    { type: 'finish', job: 'sign' },
    { type: 'start', job: 'settle' },
  ]);
  expect(after(transaction, { type: 'settle' }).effects).toEqual([{ type: 'finish', job: 'settle' }]);
});

test('a broadcast without an answer is repeated, and an accepted one enqueues the confirmation', () => {
  const signed = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
  const lost = after(signed, { type: 'send', attempt: 1, outcome: 'unknown', answer: 'timeout' });
  expect(lost.effects).toEqual([]);
  expect(outstandingJob(lost.transaction)).toBe('broadcast');
  const taken = after(lost.transaction, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  expect(taken.transaction.attempts[0]?.sent?.times).toBe(2);
  expect(taken.effects).toEqual([
    { type: 'finish', job: 'broadcast' },
    { type: 'start', job: 'confirm' },
  ]);
});

test('a transaction whose bytes may be out is never given up', () => {
  const maybeOut = transactionIn('BROADCAST', {
    attempts: [{ ...signedAttempt(), sent: { outcome: 'unknown', answer: null, atMs: NOON_MS, times: 1 } }],
  });
  const watched = after(maybeOut, { type: 'refuseBroadcast', attempt: 1, answer: 'nonce' }).transaction;
  expect([watched.state, watched.attempts[0]?.sent?.outcome, outstandingJob(watched)]).toEqual([
    'BROADCAST',
    'refused',
    'confirm',
  ]);
  const neverOut = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
  expect(after(neverOut, { type: 'refuseBroadcast', attempt: 1, answer: 'gas' }).transaction.state).toBe('FAILED');
});

test('an underpriced attempt is followed by another attempt at the same nonce, never at a new one', () => {
  const cheap = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
  const repricing = after(cheap, { type: 'send', attempt: 1, outcome: 'underpriced', answer: 'underpriced' });
  expect(repricing.effects).toEqual([
    { type: 'finish', job: 'broadcast' },
    { type: 'start', job: 'sign' },
  ]);
  const other = after(repricing.transaction, { type: 'prepare', attempt: { ...PREPARED, nonce: '5' } });
  expect(other.changed).toBe(false);
  const second = after(repricing.transaction, { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299' } });
  expect(second.transaction.attempts.map(({ number, nonce }) => [number, nonce])).toEqual([
    [1, '4'],
    [2, '4'],
  ]);
});

test('a transaction is CONFIRMING below the depth and SUCCEEDED at the depth, and its finality is recorded separately', () => {
  const broadcast = transactionIn('BROADCAST');
  const shallow = after(broadcast, { type: 'include', inclusion: inclusion(), confirmationsNeeded: 2 }).transaction;
  expect([shallow.state, finalityOf(shallow)]).toEqual(['CONFIRMING', null]);
  const deep = after(shallow, { type: 'include', inclusion: inclusion({ confirmations: 2 }), confirmationsNeeded: 2 });
  expect([deep.transaction.state, finalityOf(deep.transaction)]).toEqual(['SUCCEEDED', 'confirmed']);
  const finalized = inclusion({ confirmations: 70, finalized: true });
  const done = after(deep.transaction, { type: 'include', inclusion: finalized, confirmationsNeeded: 2 });
  expect(finalityOf(done.transaction)).toBe('finalized');
  expect(done.effects).toEqual([
    { type: 'finish', job: 'confirm' },
    { type: 'start', job: 'settle' },
  ]);
});

test('a reverted transaction is FAILED with the fee that it cost', () => {
  const reverted = inclusion({ succeeded: false, confirmations: 3, failure: 'paused', feePaid: amount('33') });
  const { transaction } = after(transactionIn('BROADCAST'), {
    type: 'include',
    inclusion: reverted,
    confirmationsNeeded: 3,
  });
  expect([transaction.state, transaction.stateReason, transaction.inclusion?.feePaid]).toEqual([
    'FAILED',
    'REVERTED',
    '33',
  ]);
});

test('a receipt for a foreign hash changes nothing', () => {
  const foreign = inclusion({ hash: OTHER_HASH, confirmations: 9 });
  const decided = after(transactionIn('BROADCAST'), { type: 'include', inclusion: foreign, confirmationsNeeded: 1 });
  expect(decided.changed).toBe(false);
});

test('a reorganisation before finality is the only way out of a final state', () => {
  const { transaction, effects } = after(transactionIn('SUCCEEDED'), {
    type: 'miss',
    inMempool: false,
    nonceTaken: false,
  });
  expect([transaction.state, transaction.stateReason, transaction.inclusion]).toEqual(['BROADCAST', 'REORGED', null]);
  expect(effects).toEqual([
    { type: 'finish', job: 'confirm' },
    { type: 'start', job: 'broadcast' },
  ]);
  const finalized = transactionIn('SUCCEEDED', { inclusion: inclusion({ finalized: true }) });
  expect(after(finalized, { type: 'miss', inMempool: false, nonceTaken: true }).changed).toBe(false);
});

test('a nonce that a foreign transaction has permanently used is a conflict', () => {
  const { transaction } = after(transactionIn('BROADCAST'), { type: 'miss', inMempool: false, nonceTaken: true });
  expect([transaction.state, transaction.stateReason]).toEqual(['FAILED', 'CONFLICTED']);
});

test('a payment that the mempool dropped is sent again with the same bytes', () => {
  const { transaction } = after(transactionIn('BROADCAST'), { type: 'miss', inMempool: false, nonceTaken: false });
  expect(outstandingJob(transaction)).toBe('broadcast');
  expect(transaction.attempts[0]?.signed).toEqual(sentAttempt().signed);
});

test('the transaction hash is that of the mined attempt, else of the newest signed one', () => {
  expect(transactionHash(transactionIn('SUBMITTED'))).toBeNull();
  const second = { ...signedAttempt(), number: 2, signed: { raw: '0x', hash: OTHER_HASH, atMs: 0 } };
  expect(transactionHash(transactionIn('BROADCAST', { attempts: [sentAttempt(), second] }))).toBe(OTHER_HASH);
  const mined = transactionIn('CONFIRMING', { attempts: [sentAttempt(), second] });
  expect(transactionHash(mined)).toBe(HASH);
});

const people = fc.constantFrom(alice, bob, carol, mallory);
const anyEvent: fc.Arbitrary<TransactionEvent> = fc.oneof(
  people.map(approves),
  people.map((actor): TransactionEvent => ({ type: 'reject', device: null, actor })),
  people.map((gone): TransactionEvent => {
    const signers = policy.signers.filter((userId) => userId !== gone.userId);
    return { type: 'dropVotes', policy: { ...policy, signers }, disabledAccess: [] };
  }),
  fc.constantFrom<TransactionEvent>(
    { type: 'expire' },
    { type: 'cancel', actor: alice },
    { type: 'prepare', attempt: PREPARED },
    { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } },
    { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' },
    { type: 'failSigning', reason: 'FEE_CAP_EXCEEDED', detail: null },
    { type: 'sign', attempt: 1, raw: '0x01', hash: HASH },
    { type: 'sign', attempt: 2, raw: '0x02', hash: OTHER_HASH },
    { type: 'send', attempt: 1, outcome: 'accepted', answer: null },
    { type: 'send', attempt: 1, outcome: 'unknown', answer: null },
    { type: 'send', attempt: 1, outcome: 'underpriced', answer: null },
    { type: 'send', attempt: 2, outcome: 'accepted', answer: null },
    { type: 'refuseBroadcast', attempt: 1, answer: 'no' },
    { type: 'miss', inMempool: false, nonceTaken: false },
    { type: 'miss', inMempool: true, nonceTaken: false },
    { type: 'miss', inMempool: false, nonceTaken: true },
    { type: 'settle' },
    { type: 'lapse', attempt: 1 },
    { type: 'lapse', attempt: 2 },
    { type: 'speedUp', actor: alice },
    { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' },
    { type: 'send', attempt: 2, outcome: 'refused', answer: 'no' },
    { type: 'setVisibility', actor: bob, visible: false },
  ),
  fc
    .tuple(fc.constantFrom(HASH, OTHER_HASH), fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 4 }))
    .map(([hash, succeeded, finalized, confirmations]): TransactionEvent => ({
      type: 'include',
      inclusion: inclusion({ hash, succeeded, finalized, confirmations }),
      confirmationsNeeded: 3,
    })),
);

test('events in any order give no signature without a quorum, no reversed decision, and one job at most', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.constantFrom('DRAFT', 'SUBMITTED'), (events, start) => {
      let transaction = transactionIn(start === 'DRAFT' ? 'DRAFT' : 'SUBMITTED');
      let enteredSigning = 0;
      for (const event of events) {
        const before = transaction;
        const decided = decide(before, event, now);
        if (!decided.ok) continue;
        transaction = decided.value.transaction;
        if (before.state !== 'SIGNING' && transaction.state === 'SIGNING') enteredSigning += 1;
        expect(transaction.version).toBe(before.version + (decided.value.changed ? 1 : 0));
        if (transaction.attempts.length > 0) {
          const approvers = new Set(
            transaction.approvals.map((one) => one.actor.userId).filter((id) => policy.signers.includes(id)),
          );
          expect(approvers.size).toBeGreaterThanOrEqual(2);
          expect(transaction.rejection).toBeNull();
          expect(new Set(transaction.attempts.map((attempt) => attempt.nonce)).size).toBe(1);
        }
        if (isFinal(before.state) && !isFinal(transaction.state)) {
          expect([event.type, before.inclusion?.finalized]).not.toEqual(['miss', true]);
          expect(before.inclusion).not.toBeNull();
        }
        const changedBytes = before.attempts.some(
          (attempt, i) => attempt.signed !== null && transaction.attempts[i]?.signed !== attempt.signed,
        );
        expect(changedBytes).toBe(false);
      }
      expect(enteredSigning).toBeLessThanOrEqual(1);
    }),
    { numRuns: 2000 },
  );
});
