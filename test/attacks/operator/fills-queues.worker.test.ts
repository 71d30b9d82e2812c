/**
 * Attack: the thief of a service key proposes policy changes until no signer can propose one that
 *   protects the vault, and gives roles to persons of the thief. The history does not show who did
 *   it.
 * Attacker: operator
 * Co-signers: 0
 * Finding: S11
 * Defence: operators have two slots of their own for policy changes. Each line of the history names
 *   the service key and, for a member, the roles.
 */
import { expect, test } from 'vitest';
import { anotherToken, asService, call, enter, foundTreasury } from '../../http/scene.worker.ts';

test('proposals of operators leave the slots of the signers', async () => {
  const treasury = await foundTreasury();
  const outcomes: unknown[] = [];
  for (let i = 0; i < 4; i += 1) {
    const patch = {
      unreadableThreshold: null,
      addressBook: [{ chain: 'anvil', address: wallet(i), name: `thief ${i}` }],
    };
    const { status, body } = await asService(`POST /internal/vault/${treasury.id}/policy-change`, patch);
    outcomes.push([status, body['code']]);
  }
  const full = [409, 'too-many-policy-changes'];
  expect(outcomes).toEqual([[201, undefined], [201, undefined], full, full]);
  const { token } = await anotherToken(treasury.bob);
  const body = { recipients: 'address-book' };
  const protective = await call(`POST /vault/${treasury.id}/policy-change`, { token, body });
  expect(protective.status).toBe(201);
});

test('the history names the service key, and the roles of a member', async () => {
  const [treasury, planted] = [await foundTreasury(), await enter('alice')];
  const roles = ['admin', 'initiator'];
  expect((await asService(`PUT /internal/vault/${treasury.id}/member/${planted.id}`, { roles })).status).toBe(200);
  const change = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 1 });
  const { token } = await anotherToken(treasury.victor);
  const { body } = await call(`GET /vault/${treasury.id}/history`, { token });
  const byOperator = (body['history'] as readonly Record<string, unknown>[]).filter(({ reason }) =>
    String(reason).startsWith('service-key'),
  );
  const line = { actor: null, reason: expect.stringMatching(/^service-key [0-9a-f]{8}$/) as string };
  expect(byOperator).toMatchObject([
    { ...line, action: 'found' },
    { ...line, action: 'member', detail: JSON.stringify({ userId: planted.id, roles }) },
    { ...line, action: 'propose-policy', detail: expect.stringContaining(change.body['id']) as string },
  ]);
});

function wallet(i: number): string {
  return `0x${String(i + 1).repeat(40)}`;
}
