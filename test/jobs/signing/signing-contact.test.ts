import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { trackContact } from '#jobs/signing/signing-contact.ts';
import { NOON_MS, policy, preparedAttempt, transactionIn, UNSPENT } from '../../domain/cast.ts';
import { vaultStandIn } from '../../objects/vault/vault-stand-in.ts';

/**
 * Covers what a run of the signing job records about the co-signers that it contacted, and when it
 * stops.
 */

const HOUR_MS = 60 * 60_000;

/**
 * Returns a vault with one transaction. `said` has the types of the events that changed the
 * transaction.
 */
function vaultOf(attempt: Attempt) {
  const scene: { transaction: Transaction; said: string[] } = {
    transaction: transactionIn('SIGNING', { attempts: [attempt] }),
    said: [],
  };
  const recordEvent = ({ event }: { readonly event: TransactionEvent }) => {
    const decided = decide(scene.transaction, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(decided.refusal.code);
    if (decided.value.changed) scene.said.push(event.type);
    scene.transaction = decided.value.transaction;
    return scene.transaction;
  };
  return { scene, stub: vaultStandIn({ recordEvent }) };
}

const prepared = (differences: Partial<Attempt> = {}): Attempt => ({
  ...preparedAttempt(),
  preparedBy: 'first',
  preparedAtMs: Date.now(),
  ...differences,
});
const requestOf = (attempt: Attempt, run: string) => {
  const { scene, stub } = vaultOf(attempt);
  return { scene, contact: trackContact(stub, scene.transaction, { attempt, run }) };
};

test('the run that prepared the bytes and signs them records nothing more', async () => {
  const { scene, contact } = requestOf(prepared(), 'first');
  expect(await contact.mayStart()).toBe(true);
  await contact.end();
  expect([scene.said, contact.isStale()]).toEqual([[], false]);
});

test('a run that prepared the bytes and reached no co-signer records that none received them', async () => {
  const { scene, contact } = requestOf(prepared(), 'first');
  await contact.end();
  expect([scene.said, scene.transaction.attempts[0]?.isAsked]).toEqual([['askInVain'], false]);
});

test('another run records once that it contacts co-signers, and never that none was reached', async () => {
  const { scene, contact } = requestOf(prepared({ isAsked: false }), 'second');
  await contact.end();
  expect([await contact.mayStart(), await contact.mayStart()]).toEqual([true, true]);
  await contact.end();
  expect([scene.said, scene.transaction.attempts[0]?.isAsked]).toEqual([['ask'], true]);
});

test('stale bytes that no co-signer has begun to sign are not used', async () => {
  const old = { preparedAtMs: Date.now() - HOUR_MS };
  const { scene, contact } = requestOf(prepared({ ...old, isAsked: false }), 'second');
  expect([await contact.mayStart(), contact.isStale(), scene.said]).toEqual([false, true, []]);
  for (const isAsked of [{}, { isAsked: true }]) {
    const begun = requestOf(prepared({ ...old, ...isAsked }), 'second').contact;
    expect([await begun.mayStart(), begun.isStale()]).toEqual([true, false]);
  }
});

test('bytes that another run has replaced meanwhile are not used', async () => {
  const { scene, stub } = vaultOf(prepared({ signingDigest: `0x${'dd'.repeat(32)}` }));
  const contact = trackContact(stub, scene.transaction, { attempt: prepared({ isAsked: false }), run: 'second' });
  expect([await contact.mayStart(), contact.isStale()]).toEqual([false, false]);
});
