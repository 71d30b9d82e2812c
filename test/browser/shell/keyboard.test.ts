import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished } from '../../e2e/world.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { tabTo } from './tab-to.ts';

const executable = chromiumHere();

/** Covers a payment from its form to its approvals without a pointer, as two people do it. */
describe.skipIf(executable === null)('the dashboard by keyboard alone', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  test('a payment is proposed, found on Home, approved by two people and paid', async () => {
    const { page } = await scene.pageOf('alice');
    const { keyboard } = page;
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await scene.goTo(page, '/');
    for (const name of ['treasury', 'New transfer']) {
      await tabTo(page, link(name));
      await keyboard.press('Enter');
    }
    await tabTo(page, page.getByLabel('To', { exact: true }));
    await keyboard.type(await scene.world.chain.account(6));
    await tabTo(page, page.getByLabel('Amount'));
    await keyboard.type('0.0125');
    await page.getByText('Sends 0.0125 ETH').waitFor();
    await tabTo(page, page.getByLabel('Note'));
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await tabTo(page, page.getByLabel(/^Normal: /));
    // The arrow keys move within a group of choices.
    await keyboard.press('ArrowDown');
    expect(await page.getByLabel(/^Fast: /).isChecked()).toBe(true);
    await tabTo(page, button('Submit for approval'));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: '0 of 2 approvals' }).waitFor();
    const id = decodeURIComponent(new URL(page.url()).hash.replace('#/transaction/', ''));
    await tabTo(page, button('Approve'));
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: '1 of 2 approvals' }).waitFor();

    const bob = await scene.pageOf('bob');
    await tabTo(bob.page, bob.page.getByRole('link', { name: 'Skip to content' }));
    await bob.page.keyboard.press('Enter');
    await tabTo(bob.page, bob.page.getByRole('link', { name: /^Send 0\.0125 ETH/ }));
    await bob.page.keyboard.press('Enter');
    await tabTo(bob.page, bob.page.getByRole('button', { name: 'Approve', exact: true }));
    await bob.page.keyboard.press('Enter');
    await bob.page.getByRole('heading', { name: '2 of 2 approvals' }).waitFor();
    expect((await finished(scene.world.people().alice, id)).state).toBe('SUCCEEDED');
    await page.locator('.now').getByText('Succeeded').waitFor();
    expect([bob.complaints]).toEqual([[]]);
  });
});
