import { expect, test, vi } from 'vitest';
import { sweep } from '#jobs/sweep.ts';
import { parseUserId } from '#domain/id.ts';
import { readHealth } from '#store/health.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import type { Treasury } from '../scene.worker.ts';
import { call, asService, changePolicy, coordinator, foundTreasury, PATIENCE_MS } from '../scene.worker.ts';

/** Operators learn of passkeys that belong to another page than the approval page, until policy changes replace them. */

const PAGE = 'https://approve.example.com';
const DASHBOARD = 'https://vaults.example.com';

function passkeyOf(userId: string, origin: string) {
  const owner = parseUserId(userId);
  if (owner === null) throw new Error('there is no person');
  const phone = new Authenticator(owner, { rpId: new URL(origin).hostname, origin });
  const { algorithm, publicKey, credentialId, rpId } = phone.passkey;
  return { userId, algorithm, publicKey, credentialId, rpId, origin, proof: phone.proof() };
}

async function foreignTo(approvalOrigin: string | null): Promise<number> {
  return (await readHealth(coordinator.DB, { limit: 1, approvalOrigin })).vaultsWithForeignPasskeys;
}

async function originsOf({ id }: Treasury): Promise<unknown> {
  const query = 'SELECT passkey_origins FROM vaults WHERE id = ?';
  return coordinator.DB.prepare(query).bind(id).first('passkey_origins');
}

const projected = (treasury: Treasury, origins: readonly string[]) =>
  vi.waitFor(async () => expect(await originsOf(treasury)).toBe(JSON.stringify(origins)), PATIENCE_MS);

test('a vault counts while its policy in force has a passkey of another page', async () => {
  const treasury = await foundTreasury();
  await projected(treasury, []);
  const before = await foreignTo(PAGE);
  await changePolicy(treasury, { addDevices: [passkeyOf(treasury.alice.id, DASHBOARD)] });
  await projected(treasury, [DASHBOARD]);
  expect([await foreignTo(PAGE), await foreignTo(DASHBOARD), await foreignTo(null)]).toEqual([before + 1, 0, 0]);
  const { body } = await call(`GET /vault/${treasury.id}/policy`, { token: treasury.alice.token });
  const removeDevices = body['policy'].devices.map(({ keyId }: { keyId: string }) => keyId);
  await changePolicy(treasury, { removeDevices, addDevices: [passkeyOf(treasury.alice.id, PAGE)] });
  await projected(treasury, [PAGE]);
  expect(await foreignTo(PAGE)).toBe(before);
  const status = await asService('GET /internal/status');
  // This deployment has no approval page, so no passkey is of another one.
  expect(status.body['vaults'].withForeignPasskeys).toBe(0);
});

test('the sweep fills the entry of a vault of before, which counts as nothing until then', async () => {
  const treasury = await foundTreasury();
  await changePolicy(treasury, { addDevices: [passkeyOf(treasury.alice.id, DASHBOARD)] });
  await projected(treasury, [DASHBOARD]);
  const known = await foreignTo(PAGE);
  await coordinator.DB.prepare('UPDATE vaults SET passkey_origins = NULL, nudged_at_ms = 0 WHERE id = ?')
    .bind(treasury.id)
    .run();
  expect(await foreignTo(PAGE)).toBe(known - 1);
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  await sweep(coordinator, Date.now());
  said.mockRestore();
  await projected(treasury, [DASHBOARD]);
  expect(await foreignTo(PAGE)).toBe(known);
});
