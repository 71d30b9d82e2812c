import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startLoginWorld } from '../e2e/login-world.ts';
import { finished } from '../e2e/world.ts';
import { wholeChromiumHere, launch, logIn } from './chromium.ts';

/**
 * `npm run screenshots` captures every page of the dashboard, light and dark, at desktop and phone
 * sizes, for review.
 */

const FOLDER = resolve(import.meta.dirname, '..', '..', 'dist', 'screenshots');
const VIEWPORTS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

const executable = wholeChromiumHere();
if (executable === null) throw new Error('there is no Chromium here; CHROMIUM names one');
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const { world, url, end } = await startLoginWorld();
const browser = await launch(executable);
try {
  const vault = await world.vault('treasury');
  const { alice } = world.people();
  const to = await world.chain.account(7);
  const body = { vaultId: vault.id, chain: 'anvil', to, amount: '25000000000000000' };
  await finished(alice, await world.approved({ ...body, note: 'Rent for November' }));
  const { id } = await alice.client.transfer({ ...body, amount: '1000000000000000', note: 'Coffee machine' });
  const paths = {
    vaults: '/',
    vault: `/vault/${vault.id}`,
    transfer: `/vault/${vault.id}/transfer`,
    receive: `/vault/${vault.id}/receive`,
    policy: `/vault/${vault.id}/policy`,
    rules: `/vault/${vault.id}/rules`,
    transaction: `/transaction/${id}`,
    tokens: '/tokens',
    notifications: '/notifications',
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [device, viewport] of Object.entries(VIEWPORTS)) {
      const context = await browser.newContext({ colorScheme, viewport });
      const welcome = await context.newPage();
      await welcome.goto(`${url}/`);
      await welcome.getByRole('link', { name: 'Log in' }).waitFor();
      const shoot = (page: typeof welcome, name: string) =>
        page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}-${device}.png`), fullPage: true });
      await shoot(welcome, 'welcome');
      const page = await logIn(context, url, 'bob');
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(`${url}/#${path}`);
        await page.locator('h1').waitFor();
        await page.locator('.loading').first().waitFor({ state: 'detached' });
        await shoot(page, name);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await end();
}
console.log(FOLDER);
