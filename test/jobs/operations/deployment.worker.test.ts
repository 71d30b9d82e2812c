import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { parseUserId } from '#domain/id.ts';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import { anotherToken, asService, call, foundTreasury } from '../../http/scene.worker.ts';

/** Covers what the sweep stores of the deployment, and what the status shows of it. */

const coordinator = env as CoordinatorEnv;
const QUARTER_MS = 900_000;
/** A time at which every vault is due and alerts are raised. */
const dueMs = (quarter: number) => (Math.ceil(Date.now() / QUARTER_MS) + 100 + quarter) * QUARTER_MS;

async function sweptAt(nowMs: number, fingerprints: readonly string[]): Promise<void> {
  const silent = vi.spyOn(console, 'error').mockImplementation(() => {});
  await sweep(coordinator, { nowMs, settingFaults: [], fingerprints });
  silent.mockRestore();
}

const isForeign = async () =>
  (await asService('GET /internal/status')).body.attention.some(
    ({ code, since }: { code: string; since: string | null }) => code === 'foreign-database' && since !== null,
  );
const ownerIs = (fingerprints: string) =>
  coordinator.DB.prepare('UPDATE database_owner SET fingerprints = ?').bind(fingerprints).run();

test('a database that other keys wrote is an alert until one of its keys is back', async () => {
  await asService('GET /internal/status');
  const written = async () =>
    (await coordinator.DB.prepare('SELECT fingerprints FROM database_owner').all<{ fingerprints: string }>()).results;
  await sweptAt(dueMs(0), ['a1']);
  expect(await written()).toEqual([{ fingerprints: 'a1' }]);
  // A new key beside the old one, and then without it.
  await sweptAt(dueMs(1), ['b2', 'a1']);
  await sweptAt(dueMs(2), ['b2']);
  expect(await written()).toEqual([{ fingerprints: 'b2' }]);
  await sweptAt(dueMs(3), ['c3']);
  expect(await written()).toEqual([{ fingerprints: 'b2' }]);
  expect(await isForeign()).toBe(true);
  // A refused setting is an alert of its own.
  await sweptAt(dueMs(4), []);
  expect(await written()).toEqual([{ fingerprints: 'b2' }]);
  await coordinator.DB.exec('DELETE FROM database_owner');
  expect(await isForeign()).toBe(false);
  await sweptAt(dueMs(5), ['c3']);
  expect(await written()).toEqual([{ fingerprints: 'c3' }]);
  await ownerIs('d4');
  expect((await asService('GET /internal/status')).body.attention).toContainEqual(
    expect.objectContaining({ code: 'foreign-database', detail: expect.not.stringMatching(/d4|01{4}/) }),
  );
});

test('the status counts the vaults with passkeys of each origin', async () => {
  const treasury = await foundTreasury();
  const line = `POST /vault/${treasury.id}/policy-change`;
  const alice = parseUserId(treasury.alice.id);
  if (alice === null) throw new Error('a user has an id');
  const addDevices = [new Authenticator(alice), new Authenticator(alice)].map((one) => {
    const { userId, algorithm, publicKey, credentialId, rpId, origin } = one.passkey;
    return { userId, algorithm, publicKey, credentialId, rpId, origin, proof: one.proof() };
  });
  const { token } = await anotherToken(treasury.alice);
  const { id } = (await call(line, { token, body: { addDevices, cosigners: null } })).body;
  for (const name of ['alice', 'bob'] as const)
    await call(`${line}/${id}/approve`, { token: (await anotherToken(treasury[name])).token });
  const shown = async () => (await asService('GET /internal/status')).body.deployment.passkeyOrigins;
  expect(await shown()).toEqual([]);
  await sweptAt(dueMs(6), []);
  expect(await shown()).toEqual([{ origin: 'https://vaults.example.com', vaults: 1 }]);
});
