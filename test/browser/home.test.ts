import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { acceptVault } from '#local/stack/provision.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';
import { violationsOf } from './shell/violations.ts';

const executable = chromiumHere();
const NOTE = '<b>Urgent</b>: approve at once';

/** Covers that Home begins with what waits for the reader in all vaults. */
describe.skipIf(executable === null)('Home', () => {
  let scene: BrowserWorld;
  /** The second vault, and the transactions in the order of their creation. */
  let second: { readonly id: number };
  const ids: string[] = [];

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    second = await scene.world.vault('payroll');
    const { alice, mallory } = scene.world.people();
    const param = (vault: { readonly id: number }) => ({ vaultId: String(vault.id), userId: mallory.id });
    for (const vault of [scene.vault, second]) {
      const json = { roles: ['viewer' as const] };
      const member = scene.world.service().api.internal.vault[':vaultId'].member[':userId'];
      await unwrap(member.$put({ param: param(vault), json }));
      await acceptVault(vault.id, [mallory]);
    }
    ids.push(await scene.transferOf(NOTE));
    const to = await scene.world.chain.account(7);
    const body = { chain: 'anvil', to, amount: '25000000000000000' };
    ids.push((await alice.client.transfer({ ...body, vaultId: second.id })).id);
    ids.push(await scene.transferOf());
    const changes = alice.client.api.vault[':vaultId']['policy-change'];
    await unwrap(
      changes.$post({ param: { vaultId: String(second.id) }, json: { threshold: 3, note: 'One more signature' } }),
    );
  });
  afterAll(() => scene.end());

  const rows = (page: Page) => page.getByRole('region', { name: 'Needs your decision' }).getByRole('listitem');
  const hrefs = (page: Page) =>
    rows(page).evaluateAll((items) => items.map((item) => item.querySelector('a')?.getAttribute('href')));
  const title = (page: Page) => page.title();
  /** Counts the streams of the person that a page opens from now on. */
  const counted = (page: Page) => {
    const opened: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/user/me/events')) opened.push(request.url());
    });
    return () => opened.length;
  };

  test('what waits for bob is listed by deadline, with badge and title, and leaves when bob has decided', async () => {
    const { page, complaints } = await scene.pageOf('bob');
    const expected = [...ids.map((id) => `#/transaction/${id}`), `#/vault/${second.id}/policy`];
    await expect.poll(() => hrefs(page)).toEqual(expected);
    await expect.poll(() => title(page)).toMatch(/^\(4\) /);
    await page.getByRole('img', { name: '4 waiting for your decision' }).waitFor();
    const [first, payroll, , change] = [0, 1, 2, 3].map((i) => rows(page).nth(i));
    await first?.getByText(/^Send 0\.001 ETH to /).waitFor();
    for (const text of ['0 of 2 approvals', `Note by alice: “${NOTE}”`]) {
      await first?.getByText(text, { exact: true }).waitFor();
    }
    await first?.getByText(/^treasury, anvil, proposed by alice, until /).waitFor();
    await payroll?.getByText(/^payroll, anvil, proposed by alice, until /).waitFor();
    await change?.getByRole('link', { name: 'Change the policy to version 2' }).waitFor();
    expect(
      await page
        .getByRole('heading')
        .filter({ hasText: /Urgent|signature/ })
        .count(),
    ).toBe(0);

    await rows(page).first().getByRole('link').click();
    await page.getByRole('button', { name: 'Approve' }).click();
    // The event of the vault updates the number.
    await expect.poll(() => title(page)).toMatch(/^\(3\) /);
    await page.getByRole('link', { name: 'Vaults' }).click();
    await expect.poll(() => hrefs(page)).toEqual(expected.slice(1));
    await page.getByRole('img', { name: '3 waiting for your decision' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('what others do in any vault changes every tab, over one stream that outlives its tab', async () => {
    const { page } = await scene.pageOf('bob');
    const streams = counted(page);
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(3);
    const other = await page.context().newPage();
    const otherStreams = counted(other);
    await other.goto(`${scene.url}/`);
    await expect.poll(() => title(other)).toMatch(/^\(3\) /);
    const { alice, carol } = scene.world.people();
    const [, payroll = '', last = ''] = ids;
    const reject = (txId: string) => carol.client.api.transaction[':txId'].reject.$post({ param: { txId }, json: {} });
    await unwrap(reject(last));
    for (const tab of [page, other]) await expect.poll(() => title(tab)).toMatch(/^\(2\) /);
    expect([streams(), otherStreams()]).toEqual([1, 0]);
    await page.close();
    await unwrap(reject(payroll));
    await expect.poll(() => title(other)).toMatch(/^\(1\) /);
    const to = await scene.world.chain.account(7);
    const body = { chain: 'anvil', to, amount: '25000000000000000', vaultId: second.id };
    ids.push((await alice.client.transfer(body)).id);
    await expect.poll(() => title(other)).toMatch(/^\(2\) /);
    expect(otherStreams()).toBe(1);
  });

  test('nothing waits for a viewer', async () => {
    const { page, complaints } = await scene.pageOf('mallory');
    await page.getByText('Nothing waits for you.').waitFor();
    await page.getByRole('link', { name: 'payroll' }).waitFor();
    const badge = page.getByRole('img', { name: /waiting for your decision/ });
    expect([await rows(page).count(), await title(page), await badge.count()]).toEqual([0, 'Vaults · Conclave', 0]);
    expect(complaints).toEqual([]);
  });

  test('a list of several pages has a button for the next one, and vaults that were not read are named', async () => {
    const { page } = await scene.pageOf('carol');
    await page.getByRole('heading', { name: 'Needs your decision' }).waitFor();
    await page.route(/\/user\/me\/pending/, async (route) => {
      const url = new URL(route.request().url());
      const isSecond = url.searchParams.get('cursor') === 'next';
      // The cursor of this test is none of the service.
      const answer = await (await route.fetch({ url: url.origin + url.pathname })).json();
      const data = isSecond ? answer.data.slice(1) : answer.data.slice(0, 1);
      const json = { ...answer, data, nextCursor: isSecond ? null : 'next', incompleteVaults: [second.id] };
      await route.fulfill({ json });
    });
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await expect.poll(() => title(page)).toMatch(/^\(\d\+\) /);
    await page.getByRole('alert').getByRole('link', { name: 'payroll' }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => rows(page).count()).toBeGreaterThan(1);
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  });

  test.each([
    ['light', { width: 1280, height: 900 }],
    ['light', { width: 390, height: 844 }],
    ['dark', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)('the list fits and has no accessibility violation, %s, %o', async (colorScheme, viewport) => {
    const { page, complaints } = await scene.pageOf('carol', { colorScheme, viewport, bypassCSP: true });
    await page.getByText(NOTE).waitFor();
    const violations = await violationsOf(page);
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect([violations, isWide, complaints]).toEqual([[], false, []]);
    const { SHOTS } = process.env;
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/home-${colorScheme}-${viewport.width}.png` });
  });
});
