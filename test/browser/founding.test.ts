import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import { acceptVault } from '#local/stack/provision.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { withAuthenticator } from './authenticator.ts';
import { readAndClick } from './read-and-click.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere, PATIENCE_MS } from './chromium.ts';

const executable = chromiumHere();

/** Covers what the dashboard shows of a vault that its signers have not founded yet. */
describe.skipIf(executable === null)('a vault that is not founded', () => {
  let scene: BrowserWorld;
  let position: ApprovalPageServer;
  const dashboards: string[] = [];
  beforeAll(async () => {
    position = await serveApprovalPage(() => dashboards);
    scene = await startBrowserWorld(executable ?? '', undefined, { approvalOrigin: position.origin });
    dashboards.push(scene.url);
  });
  afterAll(async () => {
    await scene.end();
    await position.stop();
  });

  const addressesOf = async (id: number) => {
    const param = { vaultId: String(id) };
    const { wallets } = await unwrap(scene.world.service().api.internal.vault[':vaultId'].$get({ param }));
    return wallets.map(({ address }) => address);
  };
  const hasAddresses = (id: number) =>
    expect.poll(async () => (await addressesOf(id)).includes(null), { timeout: PATIENCE_MS }).toBe(false);

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
    await acceptVault(id, [alice, bob]);
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
    await hasAddresses(id);
    expect(complaints).toEqual([]);
  });

  test('is founded by passkeys alone, which two people create on their phones', async () => {
    const people = [scene.world.people().alice, scene.world.people().bob];
    const json = {
      name: 'Warm',
      members: people.map((person) => ({ userId: person.id, roles: ['signer' as const] })),
      threshold: 2,
      initialState: 'SUBMITTED' as const,
      chains: ['anvil'],
      approvalMode: 'device' as const,
    };
    const { id } = await unwrap(scene.world.service().api.internal.vault.$post({ json }));
    await acceptVault(id, people);
    const path = `/vault/${id}/policy`;
    const open = async (name: string) => {
      const { page } = await scene.keptPageOf(name, {
        viewport: { width: 390, height: 844 },
        isMobile: true,
        hasTouch: true,
      });
      await page.addInitScript(() => (window.open = () => null));
      await page.reload();
      await withAuthenticator(page);
      return page;
    };
    const pages = [await open('alice'), await open('bob')];
    for (const page of pages) {
      await scene.goTo(page, path);
      await page.reload();
      await page.getByText('no device yet').first().waitFor();
      await page.getByRole('button', { name: 'Add passkey', exact: true }).click();
      await readAndClick(page.getByRole('button', { name: 'Create a passkey' }));
      await page.getByRole('button', { name: 'Send to the dashboard' }).click();
      await page.locator('p.card').getByText('Your passkey was submitted for approval.').waitFor();
    }
    expect(await addressesOf(id)).toEqual([null]);
    for (const page of pages) {
      await scene.goTo(page, path);
      await page.reload();
      await page.getByRole('button', { name: 'Approve on the approval page' }).click();
      const fingerprint = page.getByLabel('Fingerprint of the co-signers');
      await fingerprint.fill(fingerprintOf(pinsOfStack(scene.world.folder)));
      await page.getByLabel('Co-signers that sign together').selectOption('2');
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('heading', { name: 'Found the vault' }).waitFor();
      await readAndClick(page.getByRole('button', { name: 'Approve with a passkey' }));
      await page.locator('p.card').getByText('Your approval was sent.').waitFor();
    }
    await hasAddresses(id);
    for (const page of pages) await page.context().close();
  });
});
