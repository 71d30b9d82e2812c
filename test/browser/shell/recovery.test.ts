import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';

const executable = chromiumHere();

/**
 * Covers that the menu, the page and typed text outlive a rate limit, a lost connection and an
 * ended session, and that the page continues by itself.
 */
describe.skipIf(executable === null)('the dashboard outlives errors', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  const banner = (page: Page) => page.getByRole('region', { name: 'Connection' });
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

  async function openForm(page: Page): Promise<void> {
    await scene.goTo(page, `/vault/${scene.vault.id}/transfer`);
    await field(page, 'To').fill(scene.vault.address);
    await field(page, 'Amount').fill('0.5');
    await field(page, 'Note (optional)').fill('Typed before the fault');
  }

  async function expectForm(page: Page): Promise<void> {
    await expect.poll(() => field(page, 'To').inputValue()).toBe(scene.vault.address);
    expect(await field(page, 'Amount').inputValue()).toBe('0.5');
    expect(await field(page, 'Note (optional)').inputValue()).toBe('Typed before the fault');
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  }

  test('a page over the rate limit says when it continues, and continues', async () => {
    const { page } = await scene.pageOf('alice');
    let isLimited = true;
    await page.route('**/balances*', (route) =>
      isLimited
        ? route.fulfill({
            status: 429,
            headers: { 'retry-after': '2', 'content-type': 'application/problem+json' },
            body: JSON.stringify({ code: 'quota-exceeded', title: 'Too many requests', status: 429 }),
          })
        : route.continue(),
    );
    await scene.goTo(page, `/vault/${scene.vault.id}`);
    await banner(page).getByText('Too many requests. The page continues at').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    isLimited = false;
    await page
      .getByRole('cell', { name: 'Total of assets with a price' })
      .or(page.getByText('ETH').first())
      .first()
      .waitFor();
    await banner(page).waitFor({ state: 'detached' });
  });

  test('a lost connection keeps the page and the form, names the time, and ends by itself', async () => {
    const { page } = await scene.pageOf('bob');
    await openForm(page);
    await page.context().setOffline(true);
    await banner(page)
      .getByText(/^Reconnecting\. This page is as of \d/)
      .waitFor();
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' }).waitFor();
    await expectForm(page);
    await page.context().setOffline(false);
    await banner(page).waitFor({ state: 'detached' });
    await expectForm(page);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('heading', { name: 'Review transfer' }).waitFor();
  });

  test('what changed during a lost connection is shown after it', async () => {
    const { page } = await scene.pageOf('carol');
    await scene.goTo(page, '/tokens');
    await page.getByRole('heading', { name: 'New API token' }).waitFor();
    await page.context().setOffline(true);
    await banner(page).waitFor();
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const made = await fetch(`${scene.url}/session/access-token`, {
      method: 'POST',
      headers: { cookie, origin: scene.url, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'made elsewhere' }),
    });
    expect(made.status).toBe(201);
    await page.context().setOffline(false);
    await page.getByText('made elsewhere').waitFor();
  });

  test('a session that ends during a form is started again, and the text is there', async () => {
    const { page } = await scene.pageOf('carol');
    await openForm(page);
    await page.evaluate(async () => fetch('/sessions', { method: 'DELETE' }));
    await page.getByRole('button', { name: 'Review' }).click();
    await banner(page).getByText('Your session has ended.').waitFor();
    await expectForm(page);
    await page.getByRole('link', { name: 'Log in again' }).click();
    // The issuer may still know the person.
    const name = page.locator('input[name="login"]');
    const form = page.getByRole('heading', { name: 'New transfer' });
    await name.or(form).or(page.locator('button[type="submit"]')).first().waitFor();
    if (await name.isVisible()) {
      await name.fill('carol');
      await page.locator('input[name="password"]').fill('any');
      await page.locator('button[type="submit"]').click();
      await page.locator('button[type="submit"]').click();
    }
    await form.waitFor();
    await expectForm(page);
    expect(await banner(page).count()).toBe(0);
  });

  test('typed text survives Back, Forward and a reload, and ends with its transfer and at the logout', async () => {
    const { page } = await scene.pageOf('alice');
    await openForm(page);
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByRole('heading', { name: 'Notifications' }).waitFor();
    await page.goBack();
    await expectForm(page);
    await page.reload();
    await expectForm(page);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Back' }).click();
    await expectForm(page);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Submit for approval' }).click();
    await page.getByRole('heading', { name: '0 of 2 approvals' }).waitFor();
    await scene.goTo(page, `/vault/${scene.vault.id}/transfer`);
    await expect.poll(() => field(page, 'To').inputValue()).toBe('');
    await openForm(page);
    const drafts = () => page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('draft')));
    expect(await drafts()).toHaveLength(1);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    expect(await drafts()).toEqual([]);
  });

  test('the draft of a policy survives a reload, and is not laid over another policy', async () => {
    const { page } = await scene.pageOf('alice');
    const { alice } = scene.world.people();
    await scene.goTo(page, `/vault/${scene.vault.id}/rules`);
    await page.getByRole('button', { name: 'Add a limit' }).click();
    await field(page, 'Per transaction').fill('0.25');
    await field(page, 'Reason').fill('Typed before the reload');
    await page.reload();
    await expect.poll(() => field(page, 'Per transaction').inputValue()).toBe('0.25');
    expect(await field(page, 'Reason').inputValue()).toBe('Typed before the reload');
    const changes = alice.client.api.vault[':vaultId']['policy-change'];
    const param = { vaultId: String(scene.vault.id) };
    const { id: changeId } = await unwrap(changes.$post({ param, json: { unreadableThreshold: 3 } }));
    await scene.approveChange(changeId);
    await page.reload();
    await page.getByRole('heading', { name: 'Edit policy' }).waitFor();
    await expect.poll(() => field(page, 'Reason').inputValue()).toBe('');
    expect(await field(page, 'Per transaction').count()).toBe(0);
  });

  test('an answer that is lost leads to no second transfer, also with another fee and after a reload', async () => {
    const { page } = await scene.pageOf('bob');
    const { bob } = scene.world.people();
    const note = 'Paid once';
    const made = async () =>
      (await bob.client.transactions(scene.vault.id)).transactions.filter((one) => one.note === note).length;
    await scene.goTo(page, `/vault/${scene.vault.id}/transfer`);
    await field(page, 'To').fill(await scene.world.chain.account(6));
    await field(page, 'Amount').fill('0.001');
    await field(page, 'Note (optional)').fill(note);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.route('**/transaction/transfer', async (route) => {
      await route.fetch();
      await route.abort();
    });
    const submit = page.getByRole('button', { name: 'Submit for approval' });
    await submit.click();
    await page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' }).waitFor();
    await page.unroute('**/transaction/transfer');
    expect(await made()).toBe(1);
    await page.getByLabel(/^Fast: /).check();
    await submit.click();
    const repeated = page.getByRole('alert').filter({ hasText: 'was already submitted' });
    await repeated.waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByLabel(/^Slow: /).check();
    await submit.click();
    await repeated.waitFor();
    expect(await made()).toBe(1);
  });
});
