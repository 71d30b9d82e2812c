import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, unwrap } from '#cli/api-client.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';
import { tabTo } from './shell/tab-to.ts';
import { violationsOf } from './shell/violations.ts';
import { confirmInDialog } from './confirm-in-dialog.ts';

/** Covers the confirmations of the dashboard before what cannot be undone. */

const executable = chromiumHere();
const REASON = 'Paid before, see “invoice 7”';

describe.skipIf(executable === null)('the dashboard', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  const stateOf = async (id: string) => (await scene.world.people().alice.client.read(id)).state;
  const changes = () => scene.world.people().alice.client.api.vault[':vaultId']['policy-change'];
  const vaultParam = () => ({ vaultId: String(scene.vault.id) });
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);
  test('a rejection by keyboard alone asks first, and its reason is on the page of another member', async () => {
    const [bob, carol] = [await scene.pageOf('bob'), await scene.pageOf('carol')];
    const id = await scene.transferOf('twice');
    for (const { page } of [bob, carol]) await scene.goTo(page, `/transaction/${id}`);
    await bob.page.getByRole('button', { name: 'Reject' }).waitFor();
    await tabTo(bob.page, bob.page.getByRole('button', { name: 'Reject', exact: true }).last());
    await bob.page.keyboard.press('Enter');
    const dialog = bob.page.getByRole('dialog', { name: 'Reject this transaction?' });
    await dialog.getByText('It stops permanently, whatever its approvals').waitFor();
    await bob.page.keyboard.type(REASON);
    // Enter in the field does not act.
    await bob.page.keyboard.press('Enter');
    expect([await dialog.count(), await stateOf(id)]).toEqual([1, 'SUBMITTED']);
    await tabTo(bob.page, bob.page.getByRole('button', { name: 'Reject', exact: true }).last());
    await bob.page.keyboard.press('Enter');
    await carol.page.getByText(`Reason by bob: “${REASON}”`).waitFor();
    await bob.page.getByText(`Reason by you: “${REASON}”`).waitFor();
    expect(await stateOf(id)).toBe('REJECTED');
    await carol.page.getByText('Activity log').click();
    await carol.page.getByRole('group').getByText(`“${REASON}”`).waitFor();
    expect(await carol.page.getByRole('heading').filter({ hasText: REASON }).count()).toBe(0);
    expect([bob.complaints, carol.complaints]).toEqual([[], []]);
  });

  test.each(['Escape', 'Keep'])('%s closes a question without effect, and the focus returns', async (way) => {
    const { page, complaints } = await scene.pageOf('alice');
    const id = await scene.transferOf('kept');
    await scene.goTo(page, `/transaction/${id}`);
    const posts: string[] = [];
    page.on('request', (request) => {
      // An estimate changes nothing.
      const isEstimate = request.url().endsWith('/estimate-fee');
      if (request.method() === 'POST' && !isEstimate) posts.push(request.url());
    });
    for (const [button, heading] of [
      ['Reject', 'Reject this transaction?'],
      ['Cancel', 'Cancel this transaction?'],
    ] as const) {
      await page.getByRole('button', { name: button }).click();
      const dialog = page.getByRole('dialog', { name: heading });
      await dialog.waitFor();
      if (way === 'Escape') await page.keyboard.press('Escape');
      else await dialog.getByRole('button', { name: 'Keep' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await focused(page)).toBe(button);
    }
    expect([await stateOf(id), posts, complaints]).toEqual(['SUBMITTED', [], []]);
  });

  test('the second click of a double click, and a reason that a note cannot have, reject nothing', async () => {
    const { page } = await scene.pageOf('bob');
    const id = await scene.transferOf('slipped');
    await scene.goTo(page, `/transaction/${id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Reject' }).dispatchEvent('click', { detail: 2 });
    expect(await dialog.count()).toBe(1);
    await confirmInDialog(page, 'Reject', 'paid to \u202Eevil');
    await page.getByRole('alert').filter({ hasText: 'direction of text' }).waitFor();
    expect(await stateOf(id)).toBe('SUBMITTED');
    await page.getByRole('button', { name: 'Reject' }).click();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('paid to \u202Eevil');
    await confirmInDialog(page, 'Reject', '   ');
    await page.locator('.now').getByText('rejected').waitFor();
    expect((await scene.world.people().alice.client.read(id)).rejection?.reason).toBe(null);
  });

  test('a question closes when the transaction has another state', async () => {
    const { page } = await scene.pageOf('alice');
    const id = await scene.transferOf('raced');
    await scene.goTo(page, `/transaction/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor();
    await scene.world.people().bob.client.reject(id, 'First');
    await page.getByText('Reason by bob: “First”').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('a policy change asks before a rejection, and shows the reason as text of its author', async () => {
    const [alice, carol] = [await scene.pageOf('alice'), await scene.pageOf('carol')];
    const json = { threshold: 3, note: 'All of us' };
    const { id } = await unwrap(changes().$post({ param: vaultParam(), json }));
    await scene.goTo(carol.page, `/vault/${scene.vault.id}/policy`);
    const article = carol.page.getByRole('article').filter({ hasText: json.note });
    await article.getByRole('button', { name: 'Reject' }).click();
    await carol.page.getByRole('dialog', { name: 'Reject this policy change?' }).waitFor();
    await confirmInDialog(carol.page, 'Reject', '<b>Too many</b>');
    await article.getByText('Reason by you: “<b>Too many</b>”').waitFor();
    await scene.goTo(alice.page, `/vault/${scene.vault.id}/policy`);
    await alice.page.getByText('Reason by carol: “<b>Too many</b>”').waitFor();
    await unwrap(changes()[':changeId'].cancel.$post({ param: { ...vaultParam(), changeId: id } }));
    expect([alice.complaints, carol.complaints]).toEqual([[], []]);
  });

  test('the removal of a device asks first, and then proposes it', async () => {
    const { bob } = scene.world.people();
    const addDevices = [ScriptDevice.create().enrolment(bob.id)];
    const { id } = await unwrap(changes().$post({ param: vaultParam(), json: { addDevices, note: 'A laptop' } }));
    await scene.approveChange(id);
    const { page, complaints } = await scene.pageOf('bob');
    await scene.goTo(page, `/vault/${scene.vault.id}/policy`);
    const proposed = page.getByRole('article').filter({ hasText: 'Remove device' });
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: 'Remove this device?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect([await focused(page), await proposed.count()]).toEqual(['Remove', 0]);
    await page.getByRole('button', { name: 'Remove' }).click();
    await confirmInDialog(page, 'Propose removal');
    await proposed.waitFor();
    expect(complaints).toEqual([]);
  });

  test('a token is disabled and rotated only after a question', async () => {
    const { page, complaints } = await scene.pageOf('alice');
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByLabel('Name', { exact: true }).fill('payroll');
    await page.getByRole('button', { name: 'Create' }).click();
    const value = (await page.locator('.secret').textContent()) ?? '';
    const row = page.getByRole('listitem').filter({ hasText: 'payroll' });
    for (const action of ['Disable', 'Rotate', 'Delete']) {
      await page.getByRole('button', { name: `${action} payroll`, exact: true }).click();
      await page.getByRole('dialog', { name: `${action} “payroll”?` }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect((await new Client(scene.url, value).request('GET', '/user/me')).status).toBe(200);
    expect([await row.getByText('Enabled').count(), await page.locator('.secret').textContent()]).toEqual([1, value]);
    await row.getByRole('button', { name: 'Rotate' }).click();
    await confirmInDialog(page, 'Rotate');
    await expect.poll(() => page.locator('.secret').textContent()).not.toBe(value);
    const next = (await page.locator('.secret').textContent()) ?? '';
    expect((await new Client(scene.url, next).request('GET', '/user/me')).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  test.each([
    ['light', { width: 1200, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)(
    'a question has no accessibility violation, fits, and Reject is apart, %s',
    async (colorScheme, viewport) => {
      const id = await scene.transferOf('to be looked at');
      const { page, complaints } = await scene.pageOf('bob', { colorScheme, viewport, bypassCSP: true });
      await scene.goTo(page, `/transaction/${id}`);
      await page.getByRole('button', { name: 'Reject' }).waitFor();
      const [yes, no] = [
        await page.getByRole('button', { name: 'Approve' }).boundingBox(),
        await page.getByRole('button', { name: 'Reject' }).boundingBox(),
      ];
      expect((no?.y ?? 0) - (yes?.y ?? 0) - (yes?.height ?? 0)).toBeGreaterThan(32);
      await page.getByRole('button', { name: 'Reject' }).click();
      const box = await page.getByRole('dialog').boundingBox();
      expect([(box?.x ?? -1) >= 0, (box?.x ?? 0) + (box?.width ?? 1e9) <= viewport.width]).toEqual([true, true]);
      const violations = await violationsOf(page);
      expect([violations, complaints]).toEqual([[], []]);
      const { SHOTS } = process.env;
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/reject-${colorScheme}.png` });
    },
  );
});
