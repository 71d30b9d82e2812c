import { expect, vi } from 'vitest';
import { parseCredentialResetId, parseVaultId } from '#domain/id.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { call, asService, coordinator, foundTreasury } from '../../http/scene.worker.ts';

/** The actions and observations of the thief of a service key. `asService` is the thief. */

export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

export const outcome = ({ status, body }: Answer) => [status, body['code']];

/** Creates a token-mode vault in the directory whose members have all used their credentials. */
export async function treasuryInUse(): Promise<Treasury> {
  const treasury = await foundTreasury();
  const { alice, bob, carol, victor } = treasury;
  for (const { token } of [alice, bob, carol, victor]) {
    expect((await call('GET /user/me', { token })).status).toBe(200);
  }
  expect((await asService(`GET /internal/vault/${treasury.id}`)).status).toBe(200);
  return treasury;
}

/** Requests a new reset. Returns its id. */
export async function requested({ id }: Person): Promise<string> {
  const answer = await asService(`POST /internal/user/${id}/credential-reset`);
  expect([answer.status, answer.body['state'], answer.body['endedAt']]).toEqual([201, 'PENDING', null]);
  return answer.body['id'];
}

/** Tries every way to collect a credential under a reset. */
export async function collected({ id }: Person, resetId: string): Promise<readonly Answer[]> {
  const path = `/internal/user/${id}/credential-reset/${resetId}`;
  return [
    await asService(`POST ${path}/access-token`, { name: 'stolen' }),
    await asService(`POST ${path}/session`),
    await asService(`POST ${path}/identity`),
  ];
}

/** Advances the clock of the service. The test file restores the clock. */
export function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

/**
 * Returns the lines about a reset in the vault's history: the action, its actor, and its details.
 */
export async function historyOf(treasury: Treasury, resetId: string) {
  const { body } = await call(`GET /vault/${treasury.id}/history`, { token: treasury.victor.token });
  const lines: readonly Record<string, unknown>[] = body['history'];
  return lines
    .filter(({ detail }) => String(detail).includes(resetId))
    .map(({ action, actor, detail }) => ({
      action,
      by: actor === null ? null : (actor as { userId: string }).userId,
      detail: JSON.parse(String(detail)) as Record<string, unknown>,
    }));
}

/** Returns the people for whom the vault has a notification about the reset. */
export async function notified(treasury: Treasury, resetId: string): Promise<readonly string[]> {
  const [id, vaultId] = [parseCredentialResetId(resetId), parseVaultId(treasury.id)];
  if (id === null || vaultId === null) throw new Error('a reset and a vault have ids');
  const work = await vaultStub(coordinator, vaultId).work({ type: 'notificationWork', ids: [id] });
  return work.flatMap(({ notification }) => [...notification.userIds]);
}

/**
 * Tries a whole payment of the thief with the given tokens. Returns the state that the payment
 * reaches.
 */
export async function paymentWith(treasury: Treasury, tokens: readonly string[]): Promise<string | null> {
  const [first] = tokens;
  if (first === undefined) return null;
  const body = { vaultId: treasury.id, chain: 'anvil', to: `0x${'66'.repeat(20)}`, amount: '1000' };
  const made = await call('POST /transaction/transfer', { token: first, body });
  if (made.status !== 201) return null;
  let state: string = made.body['state'];
  for (const token of tokens) {
    const approved = await call(`POST /transaction/${made.body['id']}/approve`, { token });
    state = approved.body['state'] ?? state;
  }
  return state;
}
