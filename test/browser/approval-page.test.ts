import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import { readPolicy } from '#devices/policy-document.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import { unwrap } from '#cli/api-client.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import { finished } from '../e2e/world.ts';
import type { VirtualCredential } from './authenticator.ts';
import { withAuthenticator } from './authenticator.ts';
import { readAndClick, readDetails } from './read-and-click.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere, complaintsOf, PATIENCE_MS } from './chromium.ts';
import { violationsOf } from './shell/violations.ts';
import { confirmInDialog } from './confirm-in-dialog.ts';

/**
 * Covers two people who create passkeys on the approval page and pay with them. The dashboard, the
 * co-signers and the chain are real.
 */

const executable = chromiumHere();
const REJECT = 'Reject on the approval page';

describe.skipIf(executable === null)('with an approval page', () => {
  let position: ApprovalPageServer;
  let scene: BrowserWorld;
  let pins: readonly CosignerPin[];
  const dashboards: string[] = [];
  const passkeys = new Map<string, readonly VirtualCredential[]>();
  const pages = new Map<string, Page>();
  const complaints: (readonly string[])[] = [];
  const NAMES = ['alice', 'bob', 'carol'] as const;

  beforeAll(async () => {
    position = await serveApprovalPage(() => dashboards);
    scene = await startBrowserWorld(executable ?? '', undefined, { approvalOrigin: position.origin });
    dashboards.push(scene.url);
    // Alice's browser disables the content security policy, because the accessibility checker runs
    // as a script. All other browsers enforce it.
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const, bypassCSP: true };
    for (const name of NAMES) pages.set(name, (await scene.keptPageOf(name, name === 'alice' ? phone : {})).page);
    pins = pinsOfStack(scene.world.folder);
  });
  afterAll(async () => {
    await scene.end();
    await position.stop();
  });

  const pageOf = (name: string) => {
    const page = pages.get(name);
    if (page === undefined) throw new Error(`no page of ${name}`);
    return page;
  };

  /**
   * Opens the approval page with a button of the dashboard and performs the steps of the signer on
   * it.
   */
  async function onApprovalPage(name: string, button: string, act: (page: Page) => Promise<void>): Promise<void> {
    const opening = pageOf(name).waitForEvent('popup');
    await pageOf(name).getByRole('button', { name: button, exact: true }).click();
    if (button === REJECT) await confirmInDialog(pageOf(name), 'Reject', `Reason of ${name}`);
    const page = await opening;
    if (name !== 'alice') complaints.push(complaintsOf(page));
    const kept = await withAuthenticator(page, passkeys.get(name));
    await act(page);
    if (!page.isClosed()) passkeys.set(name, await kept());
  }

  const vaultParam = () => ({ vaultId: String(scene.vault.id) });

  test('passkeys are created on the approval page, and a page of another origin cannot use them', async () => {
    const { people } = scene.world;
    for (const name of NAMES) {
      await pageOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await onApprovalPage(name, 'Add passkey', async (page) => {
        await readAndClick(page.getByRole('button', { name: 'Create a passkey' }));
        await page.getByText('Passkey created').waitFor();
      });
      await pageOf(name)
        .getByRole('article')
        .filter({ hasText: `Add a passkey of ${name}` })
        .waitFor();
      const line = people().alice.client.api.vault[':vaultId']['policy-change'];
      const { policyChanges } = await unwrap(line.$get({ param: vaultParam(), query: {} }));
      await scene.approveChange(policyChanges[0]?.id ?? '');
    }
    const { policy } = await unwrap(
      people().alice.client.api.vault[':vaultId'].policy.$get({ param: vaultParam(), query: {} }),
    );
    expect(policy.devices.map(({ origin, rpId }) => [origin, rpId])).toEqual(
      NAMES.map(() => [position.origin, 'localhost']),
    );
    const [device] = policy.devices;
    const { credentialId, rpId, publicKey, userId } = device ?? {};
    if (credentialId == null || rpId == null || publicKey === undefined || userId === undefined)
      throw new Error('none');
    const described = { userId, algorithm: 'webauthn-p256' as const, publicKey, credentialId, rpId };
    const addDevices = [{ ...described, origin: 'http://localhost:1', proof: { signature: 'AA' } }];
    const line = people().alice.client.api.vault[':vaultId']['policy-change'];
    const refused = await line.$post({ param: vaultParam(), json: { addDevices } });
    expect(await refused.json()).toMatchObject({
      errors: [{ pointer: '/addDevices/0/origin', detail: 'Must be the origin of an approval page.' }],
    });
  });

  test('a quorum replaces a lost passkey: it removes the lost one and adds a new one', async () => {
    const { people } = scene.world;
    const line = people().alice.client.api.vault[':vaultId'];
    const devicesNow = async () =>
      (await unwrap(line.policy.$get({ param: vaultParam(), query: {} }))).policy.devices.length;
    const before = await devicesNow();
    await pageOf('carol').reload();
    const mine = pageOf('carol').getByRole('listitem').filter({ hasText: 'owned by you' });
    await mine.getByRole('button', { name: 'Remove' }).click();
    await confirmInDialog(pageOf('carol'), 'Propose removal');
    await pageOf('carol')
      .getByRole('article')
      .filter({ hasText: /“Remove device/ })
      .waitFor();
    const approveNewest = async () => {
      const { policyChanges } = await unwrap(line['policy-change'].$get({ param: vaultParam(), query: {} }));
      await scene.approveChange(policyChanges[0]?.id ?? '');
    };
    await approveNewest();
    expect(await devicesNow()).toBe(before - 1);
    await onApprovalPage('carol', 'Add passkey', async (page) => {
      await readAndClick(page.getByRole('button', { name: 'Create a passkey' }));
      await page.getByText('Passkey created').waitFor();
    });
    const added = pageOf('carol').getByRole('article').filter({ hasText: 'Add a passkey of carol' });
    await expect.poll(() => added.count()).toBe(2);
    await approveNewest();
    expect(await devicesNow()).toBe(before);
  });

  test('a payment is shown and signed on the approval page, and is paid', async () => {
    const { people, chain } = scene.world;
    const line = people().alice.client.api.vault[':vaultId']['policy-change'];
    const json = { approvalMode: 'device' as const, cosigners: [...pins], note: 'Devices from now on' };
    const { id: changeId } = await unwrap(line.$post({ param: vaultParam(), json }));
    // Each device that begins to count signs the whole policy.
    for (const name of NAMES) {
      await pageOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await pageOf(name).reload();
      // The policy in token mode decides on a rejection, so the session suffices for it.
      await pageOf(name).getByRole('button', { name: 'Reject', exact: true }).waitFor();
      await onApprovalPage(name, 'Approve on the approval page', async (page) => {
        await page.getByLabel('Fingerprint of the co-signers').fill(fingerprintOf(pins));
        await page.getByLabel('Co-signers that sign together').selectOption('2');
        if (name === 'alice') expect(await barriersOf(page)).toEqual([]);
        await page.getByRole('button', { name: 'Confirm' }).click();
        await page.getByRole('heading', { name: 'Begin device mode with policy' }).waitFor();
        if (name === 'alice') expect(await barriersOf(page)).toEqual([]);
        expect(await page.getByText(/passkey of .*, signer usr_/).count()).toBe(2 * NAMES.length);
        const closed = page.waitForEvent('close');
        await readAndClick(page.getByRole('button', { name: 'Approve with a passkey' }));
        await closed;
      });
    }
    // The window closes before the dashboard has sent its answer.
    const stateNow = async () =>
      (await unwrap(line[':changeId'].$get({ param: { ...vaultParam(), changeId }, query: {} }))).state;
    await expect.poll(stateNow, { timeout: PATIENCE_MS }).toBe('ADOPTED');
    const to = await chain.account(7);
    const { id } = await people().alice.client.transfer({
      vaultId: scene.vault.id,
      chain: 'anvil',
      to,
      amount: '1000',
    });
    for (const name of ['alice', 'bob'] as const) {
      await pageOf(name).goto(`${scene.url}/#/transaction/${id}`);
      await onApprovalPage(name, 'Approve on the approval page', async (page) => {
        await page.getByRole('heading', { name: 'Send 0.000000000000001 ETH' }).waitFor();
        if (name === 'alice') expect(await barriersOf(page)).toEqual([]);
        expect(await page.locator('.verdicts .agrees').count()).toBe(3);
        expect(await page.locator('.address').last().textContent()).toBe(to);
        if (name === 'alice') await expectReasonOfButton(page);
        const closed = page.waitForEvent('close');
        await readAndClick(page.getByRole('button', { name: 'Approve with a passkey' }));
        await closed;
      });
    }
    const done = await finished(people().alice, id);
    expect([done.state, done.approvals.length]).toEqual(['SUCCEEDED', 2]);
  });

  test('the policy in force is read on the approval page, proven by the co-signers', async () => {
    for (const name of ['alice', 'bob'] as const) {
      await pageOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await pageOf(name).reload();
      await onApprovalPage(name, 'Read the policy on the approval page', async (page) => {
        await page.getByRole('heading', { name: `Policy of vault ${scene.vault.id}`, exact: true }).waitFor();
        expect(await page.getByText('3 of 3 co-signers state that this policy is in force').count()).toBe(1);
        expect(await page.getByText(/passkey of .*, signer usr_/).count()).toBe(NAMES.length);
        expect(await page.getByRole('button').allTextContents()).toEqual(['Close']);
        if (name === 'alice') expect(await barriersOf(page)).toEqual([]);
        const closed = page.waitForEvent('close');
        // The window can close before the driver has the answer of its click.
        await page
          .getByRole('button', { name: 'Close' })
          .click()
          .catch((error: unknown) => {
            if (!page.isClosed()) throw error;
          });
        await closed;
      });
    }
    // A server that shows another policy proves nothing, and the page does not show that policy.
    await pageOf('bob').route(/\/policy\?nonce=/, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly policy: { readonly canonical: string } };
      const policy = readPolicy(Buffer.from(body.policy.canonical, 'hex'));
      const canonical = Buffer.from(policyBytes({ ...policy, threshold: 1 })).toString('hex');
      await route.fulfill({ response, json: { ...body, policy: { ...body.policy, canonical } } });
    });
    await onApprovalPage('bob', 'Read the policy on the approval page', async (page) => {
      await page.getByRole('heading', { name: 'This policy is not proven' }).waitFor();
      expect(await page.getByText('passkey of').count()).toBe(0);
      await page.close();
    });
    await pageOf('bob').unroute(/\/policy\?nonce=/);
  });

  test('a transaction is shown and rejected on the approval page, and not by the session', async () => {
    const { bob } = scene.world.people();
    const txId = await scene.transferOf('not wanted');
    const bare = await bob.client.api.transaction[':txId'].reject.$post({ param: { txId }, json: {} });
    expect([bare.status, await bare.json()]).toMatchObject([403, { code: 'device-signature-required' }]);
    await pageOf('bob').goto(`${scene.url}/#/transaction/${txId}`);
    await onApprovalPage('bob', REJECT, async (page) => {
      await page.getByRole('heading', { name: /^Reject: / }).waitFor();
      await page.getByText('Rejection: you do not want this transaction').first().waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      expect(await barriersOf(page)).toEqual([]);
      const closed = page.waitForEvent('close');
      await readAndClick(page.getByRole('button', { name: 'Reject with a passkey' }));
      await closed;
    });
    await pageOf('bob').getByText('Reason by you: “Reason of bob”').waitFor();
    const { state, rejection } = await bob.client.read(txId);
    expect([state, rejection?.device?.keyId.slice(0, 4), rejection?.reason]).toEqual([
      'REJECTED',
      'dev_',
      'Reason of bob',
    ]);
  });

  test('a policy change is shown and rejected on the approval page', async () => {
    const { alice } = scene.world.people();
    const line = alice.client.api.vault[':vaultId']['policy-change'];
    const json = { recipients: 'address-book' as const, note: 'Known recipients alone' };
    const { id } = await unwrap(line.$post({ param: vaultParam(), json }));
    const path = line[':changeId'];
    const bare = await path.reject.$post({ param: { ...vaultParam(), changeId: id } });
    expect([bare.status, await bare.json()]).toMatchObject([403, { code: 'device-signature-required' }]);
    for (const name of ['alice', 'bob'] as const) {
      await pageOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await pageOf(name).reload();
      await onApprovalPage(name, REJECT, async (page) => {
        await page.getByRole('heading', { name: 'Reject the change to policy version' }).waitFor();
        await page.getByText('Changed: Recipients').first().waitFor();
        expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
        expect(await page.locator('.verdicts').count()).toBe(0);
        if (name === 'alice') expect(await barriersOf(page)).toEqual([]);
        const closed = page.waitForEvent('close');
        await readAndClick(page.getByRole('button', { name: 'Reject with a passkey' }));
        await closed;
      });
      await pageOf(name).getByText('rejected').first().waitFor();
      await pageOf(name).getByText(`Reason by you: “Reason of ${name}”`).waitFor();
    }
    const { state, rejections } = await unwrap(path.$get({ param: { ...vaultParam(), changeId: id }, query: {} }));
    expect([state, rejections.map(({ device }) => device !== null)]).toEqual(['REJECTED', [true, true]]);
    expect(rejections.map(({ reason }) => reason)).toEqual(['Reason of alice', 'Reason of bob']);
    expect(complaints.flat().filter((one) => !one.includes('pubKeyCredParams'))).toEqual([]);
  });
});

/**
 * Checks in a low window that the inactive button says how many lines are unread, marks them, and
 * shows the first one, and that it does not move when they are read.
 */
async function expectReasonOfButton(page: Page): Promise<void> {
  const whole = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 260 });
  await page.evaluate(() => scrollTo(0, 0));
  const button = page.getByRole('button', { name: 'Approve with a passkey' });
  const reason = page.locator('.wait [role=status]');
  const topOfButton = () => button.evaluate((one) => Math.round(one.getBoundingClientRect().top + scrollY));
  await button.scrollIntoViewIfNeeded();
  await expect.poll(() => reason.textContent()).toMatch(/^Read [1-9][0-9]* more lines?\.$/);
  const unread = page.locator('.decision .detail[data-unread]');
  const first = await unread.first().elementHandle();
  expect(await button.isDisabled()).toBe(true);
  const before = await topOfButton();
  await page.getByRole('button', { name: 'Show the first' }).click();
  await expect.poll(() => first?.evaluate((one) => one.hasAttribute('data-unread'))).toBe(false);
  expect(await first?.evaluate((one) => one === document.activeElement)).toBe(true);
  await readDetails(button);
  // The button counts as in view when all of it is, also at the edge of the window.
  await button.evaluate((one) => one.scrollIntoView({ block: 'end' }));
  await expect.poll(() => reason.textContent()).toBe('');
  expect([await unread.count(), await topOfButton()]).toEqual([0, before]);
  expect(await page.getByRole('button', { name: 'Show the first' }).count()).toBe(0);
  if (whole !== null) await page.setViewportSize(whole);
}

/** Returns the accessibility violations of a page, and whether it is too wide for a phone. */
async function barriersOf(page: Page): Promise<readonly string[]> {
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  return [...(await violationsOf(page)), ...(isWide ? ['too wide'] : [])];
}
