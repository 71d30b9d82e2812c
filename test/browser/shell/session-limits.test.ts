import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';

/**
 * All page tests run with the default rate limits of sessions. This test uses them as fast as a
 * browser can.
 */

const executable = chromiumHere();
const PAGES = 60;
const APPROVALS = 20;

describe.skipIf(executable === null)('the rate limits of a session', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  test('a signer opens 60 pages and approves 20 transactions in a row, and no answer is 429', async () => {
    const { vault, world } = scene;
    const pending = await Promise.all(Array.from({ length: APPROVALS }, (_, i) => scene.transferOf(`payment ${i}`)));
    const { page } = await scene.pageOf('bob');
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 429) refused.push(response.url());
    });
    const paths = ['/', `/vault/${vault.id}`, `/vault/${vault.id}/policy`, `/vault/${vault.id}/receive`];
    for (let opened = APPROVALS; opened < PAGES; opened++) {
      await scene.goTo(page, paths[opened % paths.length] ?? '/');
      await page.locator('h1').waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
    }
    for (const id of pending) {
      await scene.goTo(page, `/transaction/${id}`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('heading', { name: '1 of 2 approvals' }).waitFor();
    }
    expect(refused).toEqual([]);
    const records = await Promise.all(pending.map((id) => world.people().alice.client.read(id)));
    expect(records.map(({ approvalsCounted }) => approvalsCounted)).toEqual(pending.map(() => 1));
  });
});
