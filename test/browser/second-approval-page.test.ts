import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import { finished } from '../e2e/world.ts';
import { withAuthenticator } from './authenticator.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';
import { readAndClick } from './read-and-click.ts';

const executable = chromiumHere();
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/**
 * Covers a person with passkeys of two approval pages, when the preferred page is lost. One tab
 * with one authenticator goes to both pages.
 */
describe.skipIf(executable === null)('two approval pages', () => {
  let [first, second]: ApprovalPageServer[] = [];
  let scene: BrowserWorld;
  let tab: Page;
  const dashboards: string[] = [];

  beforeAll(async () => {
    first = await serveApprovalPage(() => dashboards);
    second = await serveApprovalPage(() => dashboards, { host: 'approve.localhost' });
    const approvalOrigin = `${first.origin} ${second.origin}`;
    scene = await startBrowserWorld(executable ?? '', undefined, { approvalOrigin });
    dashboards.push(scene.url);
    ({ page: tab } = await scene.keptPageOf('alice', PHONE));
    await tab.addInitScript(() => (window.open = () => null));
    await tab.reload();
    await withAuthenticator(tab);
  });
  afterAll(async () => {
    await scene.end();
    await first?.stop();
    await second?.stop();
  });

  const hostOf = (page: ApprovalPageServer | undefined) => new URL(page?.origin ?? '').host;
  const button = (name: string) => tab.getByRole('button', { name, exact: true });
  const param = () => ({ vaultId: String(scene.vault.id) });
  const lineOf = (name: 'alice' | 'bob' | 'carol') =>
    scene.world.people()[name].client.api.vault[':vaultId']['policy-change'];

  async function addPasskey(page: ApprovalPageServer | undefined): Promise<void> {
    await scene.goTo(tab, `/vault/${scene.vault.id}/policy`);
    await tab.reload();
    await button(`Add passkey at ${hostOf(page)}`).click();
    await readAndClick(button('Create a passkey'));
    await button('Send to the dashboard').click();
    await tab.locator('p.card').getByText('Your passkey was submitted for approval.').waitFor();
    const { policyChanges } = await unwrap(lineOf('alice').$get({ param: param(), query: {} }));
    const changeId = policyChanges[0]?.id ?? '';
    for (const name of ['alice', 'bob'] as const) {
      await unwrap(lineOf(name)[':changeId'].approve.$post({ param: { ...param(), changeId } }));
    }
  }

  /** Opens an approval page from the dashboard, and approves there. */
  async function approveAt(page: ApprovalPageServer | undefined, path: string, name: string): Promise<void> {
    await scene.goTo(tab, path);
    await tab.reload();
    await button(name).click();
    await tab.waitForURL(`${page?.origin ?? ''}/`);
    const request = tab.getByLabel('Fingerprint of the co-signers');
    await request.or(button('Approve with a passkey')).first().waitFor();
    if (await request.isVisible()) {
      await request.fill(fingerprintOf(pinsOfStack(scene.world.folder)));
      await tab.getByLabel('Co-signers that sign together').selectOption('2');
      await button('Confirm').click();
    }
    await readAndClick(button('Approve with a passkey'));
    await tab.locator('p.card').getByText('Your approval was sent.').waitFor();
  }

  test('a person with passkeys of both approves on the second after the first was switched off', async () => {
    const { alice, bob, carol } = scene.world.people();
    await addPasskey(first);
    await addPasskey(second);
    const policyOf = () => unwrap(alice.client.api.vault[':vaultId'].policy.$get({ param: param(), query: {} }));
    const { devices: passkeys } = (await policyOf()).policy;
    expect(new Set(passkeys.map(({ origin }) => origin))).toEqual(new Set([first?.origin, second?.origin]));

    const laptop = ScriptDevice.create();
    const scripts = [
      { person: bob, device: laptop },
      { person: carol, device: ScriptDevice.create() },
    ];
    const addDevices = scripts.map(({ person, device }) => device.enrolment(person.id));
    const cosigners = [...pinsOfStack(scene.world.folder)];
    const json = { approvalMode: 'device' as const, addDevices, cosigners, note: 'Devices from now on' };
    const { id: changeId, digest } = await unwrap(lineOf('alice').$post({ param: param(), json }));
    const path = `/vault/${scene.vault.id}/policy`;
    await approveAt(first, path, 'Approve on the approval page');
    await approveAt(second, path, `Approve at ${hostOf(second)}`);
    for (const { person, device } of scripts) {
      const change = person.client.api.vault[':vaultId']['policy-change'][':changeId'];
      await unwrap(change.approve.$post({ param: { ...param(), changeId }, json: device.sign(digest) }));
    }
    expect((await policyOf()).policy.approvalMode).toBe('device');

    await first?.stop();
    const body = { vaultId: scene.vault.id, chain: 'anvil', to: await scene.world.chain.account(7), amount: '1000' };
    const payment = await alice.client.transfer(body);
    await approveAt(second, `/transaction/${payment.id}`, `Approve at ${hostOf(second)}`);
    const transaction = bob.client.api.transaction[':txId'];
    const { approvals } = await unwrap(transaction.$get({ param: { txId: payment.id } }));
    const own = passkeys.find(({ origin }) => origin === second?.origin);
    expect(approvals.map(({ device }) => device?.keyId)).toEqual([own?.keyId]);
    const signature = laptop.sign(payment.digest ?? '');
    await unwrap(transaction.approve.$post({ param: { txId: payment.id }, json: signature }));
    expect((await finished(alice, payment.id)).state).toBe('SUCCEEDED');
  });
});
