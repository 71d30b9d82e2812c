import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere, PATIENCE_MS } from './chromium.ts';

const executable = chromiumHere();

/** Covers what the dashboard shows of a vault that its signers have not founded yet. */
describe.skipIf(executable === null)('a vault that is not founded', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  test('names the devices that are missing with their owners, and has an address when all have approved', async () => {
    const { alice, bob } = scene.world.people();
    const devices = [alice, bob].map((person) => ({ person, device: ScriptDevice.create() }));
    const json = {
      name: 'Cold',
      members: [alice, bob].map(({ id }) => ({ userId: id, roles: ['signer' as const] })),
      threshold: 2,
      initialState: 'SUBMITTED' as const,
      chains: ['anvil'],
      approvalMode: 'device' as const,
      devices: devices.map(({ person, device }) => device.enrolment(person.id)),
    };
    const { id, founding } = await unwrap(scene.world.service().api.internal.vault.$post({ json }));
    const changeId = founding?.changeId ?? '';
    const { page, complaints } = await scene.pageOf('alice', { viewport: { width: 390, height: 844 } });
    await scene.goTo(page, `/vault/${id}/policy`);
    await page.getByRole('heading', { name: 'The vault is not founded' }).waitFor();
    const missing = page.getByRole('region', { name: 'The vault is not founded' }).getByRole('listitem');
    expect((await missing.allTextContents()).toSorted()).toEqual(
      devices
        .map(({ person, device }) => `${person.id === alice.id ? 'you' : person.name}: device ${device.keyId()}`)
        .toSorted(),
    );
    await page.getByRole('heading', { name: 'Founding of the vault' }).waitFor();
    await scene.goTo(page, `/vault/${id}/receive`);
    await page.getByText('Addresses appear when the keys are ready.').waitFor();
    for (const { person, device } of devices) {
      const change = person.client.api.vault[':vaultId']['policy-change'][':changeId'];
      const param = { vaultId: String(id), changeId };
      const { digest } = await unwrap(change.$get({ param, query: {} }));
      await unwrap(change.approve.$post({ param, json: device.sign(digest) }));
    }
    await scene.goTo(page, `/vault/${id}/policy`);
    await page.reload();
    await page.getByText('Adopted').first().waitFor();
    expect(await missing.count()).toBe(0);
    await expect
      .poll(
        async () => {
          const param = { vaultId: String(id) };
          const vault = await unwrap(scene.world.service().api.internal.vault[':vaultId'].$get({ param }));
          return vault.wallets.every(({ address }) => address !== null);
        },
        { timeout: PATIENCE_MS },
      )
      .toBe(true);
    expect(complaints).toEqual([]);
  });
});
