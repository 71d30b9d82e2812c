/**
 * Attack: the thief of a service key requests credential resets for enough signers, and no member
 *   cancels them within the delay.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: no defence exists after the delay, which is a documented limit, but every member was
 *   notified and the histories have each step.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { consumed } from '../../worker/queue-batch.ts';
import type { Person } from '../../http/scene.worker.ts';
import { call, asService } from '../../http/scene.worker.ts';
import { decrypt, newBrowser } from '../../worker/push-service.ts';
import { collected, DAY_MS, historyOf, later, outcome, paymentWith, requested, treasuryInUse } from './thief.worker.ts';
import { answerOfNode } from '../../worker/fake-node.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('after the delay the thief approves a payment, and all members were notified of every step', async () => {
  const treasury = await treasuryInUse();
  const victim = treasury.carol;
  const browser = newBrowser('https://push.test/carol-of-the-reset');
  await call('POST /push-subscription', { token: victim.token, body: browser.subscription });
  const sent: Uint8Array[] = [];
  vi.stubGlobal('fetch', async (input: string, init: RequestInit) => {
    const ofNode = await answerOfNode(input, init);
    if (ofNode !== null) return ofNode;
    sent.push(new Uint8Array(await new Request(input, init).arrayBuffer()));
    return new Response(null, { status: 201 });
  });
  const received = async (resetId: string) => {
    const message = { vaultId: treasury.id, transactionId: resetId, job: 'notify' };
    expect(await consumed('conclave-notification', [message])).toEqual({ acked: 1, retried: 0 });
    return JSON.parse(await decrypt(browser, sent.at(-1) ?? new Uint8Array())) as Record<string, unknown>;
  };
  const resets = new Map<Person, string>();
  for (const person of [treasury.alice, treasury.bob]) {
    const resetId = await requested(person);
    resets.set(person, resetId);
    expect(await received(resetId)).toMatchObject({ kind: 'credential-reset', vaultId: treasury.id });
    const early = await collected(person, resetId);
    expect(early.map(outcome)).toEqual(early.map(() => [409, 'credential-reset-not-ready']));
  }
  later(DAY_MS + 60_000);
  const stolen: string[] = [];
  for (const [person, resetId] of resets) {
    const path = `/internal/user/${person.id}/credential-reset/${resetId}/access-token`;
    const lost = await asService(`POST ${path}`, { name: 'stolen' });
    const again = await asService(`POST ${path}`, { name: 'stolen' });
    expect([lost.status, again.status]).toEqual([201, 201]);
    expect((await call('GET /user/me', { token: lost.body['token'] })).status).toBe(401);
    stolen.push(again.body['token']);
    expect(await received(resetId)).toMatchObject({ title: 'Treasury: credential reset completed' });
  }
  expect(await paymentWith(treasury, stolen)).toBe('SIGNING');
  for (const [person, resetId] of resets) {
    expect((await historyOf(treasury, resetId)).map(({ action }) => action)).toEqual([
      'request-credential-reset',
      'complete-credential-reset',
      'complete-credential-reset',
    ]);
    // A reset gives one credential. After the first use of that credential the reset gives nothing
    // more and cannot be cancelled.
    const more = await collected(person, resetId);
    expect(more.map(outcome)).toEqual(more.map(() => [409, 'credential-reset-not-pending']));
    const { token } = treasury.victor;
    const late = await call(`POST /vault/${treasury.id}/credential-reset/${resetId}/cancel`, { token });
    expect([late.status, late.body['state']]).toEqual([409, 'COMPLETED']);
  }
});

test('a reset that is not collected within a week expires, and the history has this', async () => {
  const treasury = await treasuryInUse();
  const resetId = await requested(treasury.alice);
  later(9 * DAY_MS);
  const answers = await collected(treasury.alice, resetId);
  expect(answers.map(({ status, body }) => [status, body['state']])).toEqual(answers.map(() => [409, 'EXPIRED']));
  expect((await asService(`POST /internal/user/${treasury.alice.id}/credential-reset`)).status).toBe(201);
  const actions = (await historyOf(treasury, resetId)).map(({ action }) => action);
  expect(actions).toEqual(['request-credential-reset', 'expire-credential-reset']);
});
