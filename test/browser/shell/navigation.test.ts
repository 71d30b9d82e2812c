import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';

const executable = chromiumHere();

/** More than one page of the history has. */
const RECORDS = 27;

/** Covers the address, the title, the focus and the live region of each page. */
describe.skipIf(executable === null)('the pages of the dashboard', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    for (let i = 0; i < RECORDS; i++) await scene.transferOf(`record ${i}`);
  });
  afterAll(() => scene.end());

  const entries = (page: Page) => page.getByRole('region', { name: 'History' }).getByRole('listitem').count();

  test('filters and loaded pages stand in the address: a reload and Back keep them', async () => {
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, `/vault/${scene.vault.id}`);
    await page.getByRole('button', { name: 'Load more' }).click();
    await expect.poll(() => entries(page)).toBe(RECORDS);
    expect(new URL(page.url()).hash).toBe(`#/vault/${scene.vault.id}?pages=2`);
    await page.reload();
    await expect.poll(() => entries(page)).toBe(RECORDS);
    await page.getByLabel('Status').selectOption({ label: 'Rejected' });
    await page.getByText('No matching transactions.').waitFor();
    expect(new URL(page.url()).hash).toBe(`#/vault/${scene.vault.id}?state=REJECTED`);
    await page.reload();
    await page.getByText('No matching transactions.').waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('REJECTED');
    await page.goBack();
    await expect.poll(() => entries(page)).toBe(RECORDS);
    expect(await page.getByLabel('Status').inputValue()).toBe('');
  });

  test('each page has its title and one live region, and its heading gets the focus', async () => {
    const { page, complaints } = await scene.pageOf('alice');
    const id = await scene.transferOf('to be opened');
    const vault = `/vault/${scene.vault.id}`;
    const pages: readonly (readonly [string, string])[] = [
      [vault, 'treasury'],
      [`${vault}/transfer`, 'New transfer · treasury'],
      [`${vault}/receive`, 'Receive · treasury'],
      [`${vault}/policy`, 'Policy · treasury'],
      [`${vault}/members`, 'Members · treasury'],
      [`${vault}/rules`, 'Edit policy · treasury'],
      [`/transaction/${id}`, 'Transaction'],
      ['/tokens', 'API tokens'],
      ['/notifications', 'Notifications'],
      ['/vault/999', 'Vault not found'],
      ['/nowhere', 'Page not found'],
      ['/', 'Vaults'],
    ];
    for (const [path, title] of pages) {
      await page.evaluate((to) => {
        location.hash = to;
      }, path);
      await expect.poll(() => page.title()).toMatch(new RegExp(`^(\\(\\d+\\) )?${title} · Conclave$`));
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.locator('[aria-live], [role="status"], output').count()).toBe(1);
    }
    expect(complaints).toEqual([]);
  });

  test('Back returns to the position of the page, and a link opens a page at its top', async () => {
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, `/vault/${scene.vault.id}?pages=2`);
    await expect.poll(() => entries(page)).toBeGreaterThanOrEqual(RECORDS);
    const last = page.getByRole('region', { name: 'History' }).getByRole('link').last();
    await last.scrollIntoViewIfNeeded();
    const position = () => page.evaluate(() => scrollY);
    const before = await position();
    expect(before).toBeGreaterThan(0);
    await last.click();
    await page.getByRole('heading', { name: '0 of 2 approvals' }).waitFor();
    expect(await position()).toBe(0);
    await page.goBack();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await expect.poll(position).toBe(before);
  });

  test('the link to an explorer opens apart', async () => {
    const { page } = await scene.pageOf('alice');
    const id = await scene.transferOf('on an explorer');
    await page.route(`**/transaction/${id}`, async (route) => {
      const response = await route.fetch();
      const record = (await response.json()) as Record<string, unknown>;
      const shown = {
        ...record,
        state: 'SUCCEEDED',
        actionsForMe: [],
        txHash: '0x1',
        explorerUrl: 'https://explorer.test/tx/0x1',
      };
      await route.fulfill({ response, json: shown });
    });
    await scene.goTo(page, `/transaction/${id}`);
    const link = page.getByRole('link', { name: '0x1' });
    await link.waitFor();
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
      '_blank',
      'noopener noreferrer',
    ]);
  });
});
