import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import { unwrap } from '#cli/api-client.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import { finished } from '../e2e/world.ts';
import { withAuthenticator } from './authenticator.ts';
import { readAndClick } from './read-and-click.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';
import { confirmInDialog } from './confirm-in-dialog.ts';

/**
 * Covers people whose browser opens no second window for the approval page: one tab goes to the
 * page and returns. Alice has a phone, bob's browser blocks windows, and carol prefers this method.
 */

const executable = chromiumHere();
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

describe.skipIf(executable === null)('an approval page without a second window', () => {
  let position: ApprovalPageServer;
  let scene: BrowserWorld;
  let pins: readonly CosignerPin[];
  const dashboards: string[] = [];
  const tabs = new Map<string, Page>();
  const opened: string[] = [];

  beforeAll(async () => {
    position = await serveApprovalPage(() => dashboards);
    scene = await startBrowserWorld(executable ?? '', undefined, { approvalOrigin: position.origin });
    dashboards.push(scene.url);
    for (const name of ['alice', 'bob', 'carol']) {
      const { page } = await scene.keptPageOf(name, name === 'alice' ? PHONE : {});
      // Blocks new windows like a pop-up blocker. Carol's browser would open one.
      if (name !== 'carol') await page.addInitScript(() => (window.open = () => null));
      await page.reload();
      page.on('popup', (popup) => opened.push(popup.url()));
      await withAuthenticator(page);
      tabs.set(name, page);
    }
    pins = pinsOfStack(scene.world.folder);
  });
  afterAll(async () => {
    await scene.end();
    await position.stop();
  });

  function tabOf(name: string): Page {
    const tab = tabs.get(name);
    if (tab === undefined) throw new Error(`no tab of ${name}`);
    return tab;
  }
  const button = (name: string, text: string) => tabOf(name).getByRole('button', { name: text, exact: true });
  const vaultParam = () => ({ vaultId: String(scene.vault.id) });
  const changes = () => scene.world.people().alice.client.api.vault[':vaultId']['policy-change'];

  async function approvedBySessions(changeId: string): Promise<void> {
    const { alice, bob } = scene.world.people();
    for (const { client } of [alice, bob]) {
      const line = client.api.vault[':vaultId']['policy-change'][':changeId'];
      await unwrap(line.approve.$post({ param: { ...vaultParam(), changeId } }));
    }
  }

  /**
   * Opens the approval page from the link in the dashboard, and confirms the co-signers where the
   * page requires it.
   */
  async function toApprovalPage(name: string, path: string): Promise<void> {
    await tabOf(name).goto(`${scene.url}/#${path}`);
    // The tab may have shown this page before. It would then show an older list.
    await tabOf(name).reload();
    await button(name, name === 'carol' ? 'Go there in this tab' : 'Approve on the approval page').click();
    await tabOf(name).waitForURL(`${position.origin}/`);
    const request = tabOf(name).getByLabel('Fingerprint of the co-signers');
    await request.or(button(name, 'Approve with a passkey')).first().waitFor();
    if (!(await request.isVisible())) return;
    await request.fill(fingerprintOf(pins));
    await tabOf(name).getByLabel('Co-signers that sign together').selectOption('2');
    await button(name, 'Confirm').click();
  }

  test('a passkey is created on the approval page and proposed after the return to the dashboard', async () => {
    for (const name of ['alice', 'bob', 'carol']) {
      await tabOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await button(name, name === 'carol' ? 'Add passkey in this tab' : 'Add passkey').click();
      await readAndClick(button(name, 'Create a passkey'));
      await tabOf(name).getByText('Passkey created').waitFor();
      await button(name, 'Send to the dashboard').click();
      await tabOf(name).locator('p.card').getByText('Your passkey was submitted for approval.').waitFor();
      expect(tabOf(name).url()).toBe(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      const { policyChanges } = await unwrap(changes().$get({ param: vaultParam(), query: {} }));
      expect(policyChanges[0]?.note).toBe(`Add a passkey of ${name}`);
      await approvedBySessions(policyChanges[0]?.id ?? '');
    }
    const { policy } = await unwrap(
      scene.world.people().alice.client.api.vault[':vaultId'].policy.$get({ param: vaultParam(), query: {} }),
    );
    expect(policy.devices.map(({ origin }) => origin)).toEqual([position.origin, position.origin, position.origin]);
    const json = { approvalMode: 'device' as const, cosigners: [...pins], note: 'Devices from now on' };
    const { id } = await unwrap(changes().$post({ param: vaultParam(), json }));
    for (const name of ['alice', 'bob', 'carol']) {
      await toApprovalPage(name, `/vault/${scene.vault.id}/policy`);
      await tabOf(name).getByRole('heading', { name: 'Begin device mode with policy' }).waitFor();
      await readAndClick(button(name, 'Approve with a passkey'));
      await tabOf(name).locator('p.card').getByText('Your approval was sent.').waitFor();
    }
    const founded = await unwrap(changes()[':changeId'].$get({ param: { ...vaultParam(), changeId: id }, query: {} }));
    expect(founded.state).toBe('ADOPTED');
  });

  test('a payment is shown on the approval page, signed, submitted once, and paid', async () => {
    const { people, chain } = scene.world;
    const { alice } = people();
    const body = { vaultId: scene.vault.id, chain: 'anvil', to: await chain.account(7), amount: '1000' };
    const { id } = await alice.client.transfer(body);
    await toApprovalPage('alice', `/transaction/${id}`);
    await tabOf('alice').getByRole('heading', { name: 'Send 0.000000000000001 ETH' }).waitFor();
    expect(await tabOf('alice').locator('.verdicts .agrees').count()).toBe(3);
    await button('alice', 'Back to the dashboard without signing').click();
    await tabOf('alice').getByText('closed without a signature').waitFor();
    expect((await unwrap(alice.client.api.transaction[':txId'].$get({ param: { txId: id } }))).approvals).toEqual([]);

    await toApprovalPage('alice', `/transaction/${id}`);
    const answers: string[] = [];
    tabOf('alice').on('request', (request) => {
      if (request.url().endsWith('/approve')) answers.push(request.url());
    });
    await readAndClick(button('alice', 'Approve with a passkey'));
    await tabOf('alice').locator('p.card').getByText('Your approval was sent.').waitFor();
    expect(tabOf('alice').url()).toBe(`${scene.url}/#/transaction/${id}`);
    await tabOf('alice').reload();
    await tabOf('alice').getByRole('heading', { name: '1 of 2 approvals' }).waitFor();
    expect(answers.length).toBe(1);
    await tabOf('alice').goBack();
    expect(tabOf('alice').url()).not.toContain('approval/');

    await toApprovalPage('bob', `/transaction/${id}`);
    await readAndClick(button('bob', 'Approve with a passkey'));
    await tabOf('bob').locator('p.card').getByText('Your approval was sent.').waitFor();
    const done = await finished(alice, id);
    expect([done.state, done.approvals.length]).toEqual(['SUCCEEDED', 2]);
  });

  test('a policy change is shown and signed on the approval page', async () => {
    const json = { recipients: 'address-book' as const, note: 'Known recipients alone' };
    const { id } = await unwrap(changes().$post({ param: vaultParam(), json }));
    for (const name of ['alice', 'carol']) {
      await toApprovalPage(name, `/vault/${scene.vault.id}/policy`);
      await tabOf(name).getByText('Changed: Recipients').first().waitFor();
      await readAndClick(button(name, 'Approve with a passkey'));
      await tabOf(name).locator('p.card').getByText('Your approval was sent.').waitFor();
    }
    const line = scene.world.people().alice.client.api.vault[':vaultId']['policy-change'][':changeId'];
    const { state } = await unwrap(line.$get({ param: { ...vaultParam(), changeId: id }, query: {} }));
    expect(state).toBe('ADOPTED');
    expect(opened).toEqual([]);
  });

  test('a policy change is shown on the approval page, rejected, and submitted after the return', async () => {
    const json = { recipients: 'anyone' as const, note: 'Any recipient' };
    const { id } = await unwrap(changes().$post({ param: vaultParam(), json }));
    for (const name of ['alice', 'carol']) {
      await tabOf(name).goto(`${scene.url}/#/vault/${scene.vault.id}/policy`);
      await tabOf(name).reload();
      await button(name, name === 'carol' ? 'Reject in this tab' : 'Reject on the approval page').click();
      await confirmInDialog(tabOf(name), 'Reject', name === 'carol' ? 'Seen twice' : undefined);
      await tabOf(name).getByText('Changed: Recipients').first().waitFor();
      await readAndClick(button(name, 'Reject with a passkey'));
      await tabOf(name).locator('p.card').getByText('Your rejection was sent.').waitFor();
    }
    const line = changes()[':changeId'];
    const { state, rejections } = await unwrap(line.$get({ param: { ...vaultParam(), changeId: id }, query: {} }));
    expect([state, rejections.map(({ reason }) => reason)]).toEqual(['REJECTED', [null, 'Seen twice']]);
    expect(opened).toEqual([]);
  });

  test('an answer that the tab did not request is not submitted, and is removed from the address bar', async () => {
    const tab = tabOf('carol');
    const sent: string[] = [];
    tab.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    const answer = { type: 'conclave/approval/answer', version: 1, requestId: 'other', keyId: 'k', signature: 's' };
    const message = encodeURIComponent(JSON.stringify({ ...answer, authenticatorData: 'a', clientDataJSON: 'c' }));
    // Answers always arrive from another page: a change of the fragment alone does not load the
    // dashboard again.
    await tab.goto(position.origin);
    await tab.goto(`${scene.url}/#/approval/other/${message}`);
    await tab.getByText('did not request').waitFor();
    expect([tab.url(), sent]).toEqual([`${scene.url}/#/`, []]);
  });
});
