import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Attempt, SendOutcome, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import {
  alice,
  bob,
  CREATED_AT_MS,
  DIGEST,
  EXPIRES_AT_MS,
  HASH,
  NOON_MS,
  PREPARED,
  preparedAttempt,
  sentAttempt,
  signedAttempt,
  transactionIn,
} from '../cast.ts';
import { broadcast, cancellation, now, second, sentOnce, sentWith, step } from './step.ts';

/**
 * Covers exactly which fields each event changes, and when it changes none.
 * `transition-matrix.test.ts` covers the states.
 */

describe('before the decision', () => {
  const pending = transactionIn('SUBMITTED');

  test('a rejection names its signer and the digest', () => {
    expect(step(pending, { type: 'reject', device: null, actor: bob })).toEqual({
      state: 'REJECTED',
      stateReason: 'REJECTED_BY_SIGNER',
      rejection: { actor: bob, digest: DIGEST, device: null, atMs: NOON_MS },
    });
  });

  test('a pending transaction ends by a cancellation, or by an expiry that is not early', () => {
    const cancelled = { state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER' };
    expect(step(pending, { type: 'cancel', actor: alice })).toEqual(cancelled);
    expect(step(pending, { type: 'expire' }, EXPIRES_AT_MS - 1)).toBeNull();
    expect(step(pending, { type: 'expire' }, EXPIRES_AT_MS)).toEqual({
      state: 'EXPIRED',
      stateReason: 'EXPIRED_UNDECIDED',
    });
  });

  test('a record that a person hid stays hidden', () => {
    const hide: TransactionEvent = { type: 'setVisibility', actor: alice, visible: false };
    expect(step(pending, hide)).toEqual({ visible: false, visibilityChoice: false });
    expect(step({ ...pending, visible: false, visibilityChoice: false }, hide)).toBeNull();
    const hidden = { ...pending, visible: false, visibilityChoice: null };
    expect(step(hidden, hide)).toEqual({ visibilityChoice: false });
  });
});

describe('signing', () => {
  const prepare: TransactionEvent = { type: 'prepare', attempt: PREPARED };
  const signs = (number: number): TransactionEvent => ({ type: 'sign', attempt: number, raw: '0x02ff', hash: HASH });
  const signing = (attempts: readonly Attempt[], differences: Partial<Transaction> = {}) =>
    transactionIn('SIGNING', { attempts, ...differences });

  test('an attempt is prepared only for the current purpose, payment or cancellation', () => {
    const chosen = { ...preparedAttempt(), preparedAtMs: NOON_MS };
    expect(step(signing([]), prepare)).toEqual({ attempts: [chosen] });
    expect(step(signing([preparedAttempt()]), prepare)).toBeNull();
    expect(step(signing([], { cancelling: true }), prepare)).toBeNull();
    const cancels: TransactionEvent = { type: 'prepare', attempt: { ...PREPARED, ...cancellation } };
    expect(step(signing([]), cancels)).toBeNull();
    const instead = { ...chosen, ...cancellation, number: 2 };
    expect(step(signing([preparedAttempt()], { cancelling: true }), cancels)).toEqual({
      attempts: [preparedAttempt(), instead],
    });
  });

  test('a payment that is being cancelled gets a cancellation attempt once its bytes were sent', () => {
    const cancels: TransactionEvent = { type: 'prepare', attempt: { ...PREPARED, ...cancellation } };
    expect(step(broadcast([signedAttempt()], { cancelling: true }), cancels)).toBeNull();
    const changed = step(broadcast([sentAttempt()], { cancelling: true }), cancels);
    expect(changed?.attempts?.map(({ number, purpose }) => [number, purpose])).toEqual([
      [1, 'intent'],
      [2, 'cancellation'],
    ]);
  });

  test('a signing delay is recorded once for each reason', () => {
    const delay: TransactionEvent = { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' };
    expect(step(signing([]), delay)).toEqual({ stateReason: 'SIGNER_UNAVAILABLE' });
    expect(step(signing([], { stateReason: 'SIGNER_UNAVAILABLE' }), delay)).toBeNull();
  });

  test('a signing failure states its reason, and that of a given-up payment states why it was given up', () => {
    const fail: TransactionEvent = { type: 'failSigning', reason: 'SIGNING_TIMEOUT', detail: null };
    expect(step(signing([]), fail)).toEqual({ state: 'FAILED', stateReason: 'SIGNING_TIMEOUT' });
    const givenUp = signing([preparedAttempt()], { givenUp: 'INSUFFICIENT_FUNDS', cancelling: true });
    expect(step(givenUp, fail)).toEqual({ state: 'FAILED', stateReason: 'INSUFFICIENT_FUNDS' });
    expect(step(signing([signedAttempt(), { ...preparedAttempt(), number: 2 }]), fail)).toBeNull();
  });

  test('a nonce is filled once, and only if nothing is signed', () => {
    const fill: TransactionEvent = { type: 'fillNonce', reason: 'TOKEN_REFUSED', detail: null };
    const gaveUp = { cancelling: true, givenUp: 'TOKEN_REFUSED', stateReason: 'TOKEN_REFUSED' };
    expect(step(signing([preparedAttempt()]), fill)).toEqual(gaveUp);
    expect(step(signing([], { cancelling: true }), fill)).toBeNull();
    expect(step(signing([signedAttempt(), { ...preparedAttempt(), number: 2 }]), fill)).toBeNull();
  });

  test('a signature is stored only for the newest attempt, and only if that attempt is unsigned', () => {
    const waited = { stateReason: 'SIGNER_UNAVAILABLE' };
    const signed = { ...preparedAttempt(), signed: { raw: '0x02ff', hash: HASH, atMs: NOON_MS } };
    const out = { state: 'BROADCAST', stateReason: null, attempts: [signed] };
    expect(step(signing([preparedAttempt()], waited), signs(1))).toEqual(out);
    const givenUp = { cancelling: true, givenUp: 'INSUFFICIENT_FUNDS' };
    expect(step(signing([preparedAttempt()], { ...waited, ...givenUp }), signs(1))).toEqual({
      ...out,
      stateReason: 'CANCELLING',
    });
    for (const attempts of [[], [signedAttempt()]]) expect(step(signing(attempts), signs(1))).toBeNull();
    expect(step(signing([preparedAttempt()]), signs(2))).toBeNull();
  });
});

describe('sending', () => {
  const sends = (outcome: SendOutcome, number = 1): TransactionEvent => {
    return { type: 'send', attempt: number, outcome, answer: 'so it said' };
  };

  test.each<[SendOutcome, string | null]>([
    ['accepted', null],
    ['unknown', 'REBROADCASTING'],
    ['underpriced', 'REPRICING'],
    ['lapsed', 'SIGNING_AGAIN'],
    ['refused', 'REFUSED_BY_NODE'],
  ])('the outcome %s is recorded with the answer, and the state reason is %s', (outcome, stateReason) => {
    const sent = { outcome, answer: 'so it said', atMs: NOON_MS };
    // Refusals are counted over all RPC nodes. People see the message after three identical
    // refusals.
    const refused = (times: number) => (outcome === 'accepted' ? {} : { refusal: { answer: 'so it said', times } });
    expect(step(broadcast([signedAttempt()], { stateReason: 'before' }), sends(outcome))).toEqual({
      stateReason,
      attempts: [{ ...signedAttempt(), sent: { ...sent, times: 1 }, ...refused(1) }],
    });
    const again = step(broadcast([sentAttempt()]), sends(outcome));
    expect(again?.attempts).toEqual([{ ...signedAttempt(), sent: { ...sent, times: 2 }, ...refused(1) }]);
  });

  test('a payment that is being cancelled has the reason CANCELLING while it is in flight', () => {
    const changed = step(broadcast([signedAttempt()], { cancelling: true }), sends('accepted'));
    expect(changed?.stateReason).toBe('CANCELLING');
  });

  test('only the newest attempt is sent, and only when it is signed', () => {
    for (const attempts of [[], [preparedAttempt()], [sentAttempt(), { ...preparedAttempt(), number: 2 }]]) {
      expect(step(broadcast(attempts), sends('accepted', attempts.length))).toBeNull();
    }
    expect(step(broadcast([signedAttempt()]), sends('accepted', 2))).toBeNull();
    expect(step(broadcast([sentAttempt(), { ...signedAttempt(), ...second }]), sends('accepted', 1))).toBeNull();
  });

  test('a permanent refusal ends only a payment that no RPC node ever accepted', () => {
    const refuses = (number: number): TransactionEvent => ({ type: 'refuseBroadcast', attempt: number, answer: 'no' });
    const refusal = { answer: 'no', times: 1 };
    const failed = { state: 'FAILED', stateReason: 'REJECTED_BY_NODE', attempts: [{ ...signedAttempt(), refusal }] };
    expect(step(broadcast([signedAttempt()]), refuses(1))).toEqual(failed);
    expect(step(broadcast([signedAttempt()]), refuses(2))).toBeNull();
    const two = [sentWith('underpriced'), { ...signedAttempt(), ...second }];
    const refused = { outcome: 'refused', answer: 'no', atMs: NOON_MS, times: 1 };
    expect(step(broadcast(two), refuses(2))).toEqual({
      stateReason: 'REFUSED_BY_NODE',
      attempts: [two[0], { ...two[1], sent: refused, refusal }],
    });
  });
});

describe('a further attempt', () => {
  const lapse: TransactionEvent = { type: 'lapse', attempt: 1 };
  const speedUp: TransactionEvent = { type: 'speedUp', actor: alice };
  const abandon: TransactionEvent = { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' };

  test('a further attempt is requested when no block can include the newest one any more', () => {
    const sent = sentOnce('lapsed', 'The attempt has expired and can no longer be included in a block.');
    expect(step(broadcast([sentAttempt()]), lapse)).toEqual({
      stateReason: 'SIGNING_AGAIN',
      attempts: [{ ...sentAttempt(), sent }],
    });
    const others = [
      [],
      [signedAttempt()],
      [sentWith('lapsed')],
      [sentWith('underpriced')],
      [sentWith('accepted', second)],
    ];
    for (const attempts of others) expect(step(broadcast(attempts), lapse)).toBeNull();
  });

  test('a replacement is requested when a member wants to pay more', () => {
    const answer = 'A higher fee was requested.';
    const sent = { outcome: 'underpriced', answer, atMs: CREATED_AT_MS, times: 1, isAsked: true };
    expect(step(broadcast([sentAttempt()]), speedUp)).toEqual({
      stateReason: 'REPRICING',
      attempts: [{ ...sentAttempt(), sent }],
    });
    for (const attempts of [[], [signedAttempt()], [sentWith('lapsed')], [sentWith('underpriced')]]) {
      expect(step(broadcast(attempts), speedUp)).toBeNull();
    }
    for (const state of ['SIGNING', 'SUCCEEDED'] as const) {
      const refusal = { code: 'transaction-not-broadcast', state };
      expect(decide(transactionIn(state), speedUp, now)).toEqual({ ok: false, refusal });
    }
  });

  test('a replacement that cannot be made leaves the newest attempt in flight, which is still watched', () => {
    const unsigned = { ...preparedAttempt(), number: 2 };
    const refused = sentWith('refused');
    expect(step(broadcast([sentWith('underpriced'), unsigned]), abandon)).toEqual({
      stateReason: 'FEE_CAP_EXCEEDED',
      attempts: [refused],
    });
    for (const attempts of [[], [unsigned], [signedAttempt()], [sentAttempt()], [sentWith('unknown'), unsigned]]) {
      expect(step(broadcast(attempts), abandon)).toBeNull();
    }
  });

  test('a replacement that cannot be made fails a transaction that no block can include any more', () => {
    const attempts = [sentWith('lapsed')];
    expect(step(broadcast([...attempts, { ...preparedAttempt(), number: 2 }]), abandon)).toEqual({
      state: 'FAILED',
      stateReason: 'FEE_CAP_EXCEEDED',
      attempts,
      watchedSinceMs: NOON_MS,
    });
  });

  test('a cancellation that cannot be made is withdrawn, and one that is in flight stays', () => {
    const cancelling = { cancelling: true };
    const unsigned = { ...preparedAttempt(), ...cancellation, number: 2 };
    expect(step(broadcast([sentAttempt(), unsigned], cancelling), abandon)).toEqual({
      stateReason: 'FEE_CAP_EXCEEDED',
      cancelling: false,
      attempts: [sentAttempt()],
    });
    const out = [sentAttempt(), sentWith('underpriced', { ...second, ...cancellation })];
    expect(step(broadcast(out, cancelling), abandon)).toEqual({
      stateReason: 'FEE_CAP_EXCEEDED',
      attempts: [sentAttempt(), sentWith('refused', { ...second, ...cancellation })],
    });
    // If no member requested the cancellation, its flag does not change.
    const alone = broadcast([sentWith('underpriced', cancellation)]);
    expect(step(alone, abandon)?.cancelling).toBeUndefined();
  });
});
