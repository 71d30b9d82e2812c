import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { acceptVault } from '#local/stack/provision.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';

const executable = chromiumHere();

/** More than one page of the service has. */
const VAULTS = 60;
const CHANGES = 30;
const TOKENS = 150;
const RECORDS = 1_000;
/** Bytes of the script of the first page, compressed. */
const MAX_FIRST_SCRIPT = 60_000;
const UNLISTED = { trust: 'unlisted', imitates: null, tokenAddress: `0x${'9'.repeat(40)}` };
/** Records are created by several requests at once. */
const AT_ONCE = 20;

/** Covers that no vault, asset, record or policy change is missing from a list of several pages. */
describe.skipIf(executable === null)('lists with several pages', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  /** Creates a vault of alice that waits for devices, so no key is generated. */
  async function draft(name: string): Promise<number> {
    const { alice } = scene.world.people();
    const json = {
      name,
      members: [{ userId: alice.id, roles: ['signer' as const] }],
      threshold: 1,
      initialState: 'SUBMITTED' as const,
      chains: ['anvil'],
      approvalMode: 'device' as const,
    };
    const { id } = await unwrap(scene.world.service().api.internal.vault.$post({ json }));
    await acceptVault(id, [alice]);
    return id;
  }

  test('files with a hash in their name are cached, the page is not, and the manifest is loaded', async () => {
    const document = await fetch(`${scene.url}/`);
    const html = await document.text();
    const assets = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(assets.filter((path) => path.endsWith('.css'))).toHaveLength(1);
    const scripts = [...html.matchAll(/<script [^>]*src="([^"]+)"/g)].map(([, path = '']) => path);
    let bytes = 0;
    for (const path of scripts) {
      const script = await (await fetch(`${scene.url}${path}`)).arrayBuffer();
      bytes += gzipSync(new Uint8Array(script)).length;
    }
    expect([scripts.length, bytes < MAX_FIRST_SCRIPT]).toEqual([2, true]);
    for (const path of assets) {
      const response = await fetch(`${scene.url}${path}`);
      expect([response.status, response.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect(document.headers.get('cache-control')).toContain('max-age=0');
    const absent = await fetch(`${scene.url}/assets/index-00000000.js`);
    expect([absent.status, absent.headers.get('cache-control')?.includes('immutable') ?? false]).toEqual([404, false]);
    const manifest = await fetch(`${scene.url}/manifest.webmanifest`);
    expect(manifest.headers.get('content-type')).toContain('application/manifest+json');
    const page = await scene.browser.newPage();
    await page.goto(`${scene.url}/`);
    const session = await page.context().newCDPSession(page);
    const { errors, data } = await session.send('Page.getAppManifest');
    expect([errors, data?.includes('"Conclave"')]).toEqual([[], true]);
    await page.close();
  });

  test('Home lists the oldest of many vaults, and its pages open', async () => {
    for (let i = 1; i <= VAULTS; i++) await draft(`Vault of lists ${i}`);
    const { page, complaints } = await scene.pageOf('alice');
    await page.getByRole('link', { name: 'treasury' }).waitFor();
    expect(await page.getByRole('link', { name: /^Vault of lists/ }).count()).toBe(VAULTS);
    await scene.goTo(page, `/vault/${scene.vault.id}/transfer`);
    await page.getByRole('heading', { name: 'New transfer' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('policy changes after the first page are loaded on request', async () => {
    const id = await draft('Vault of changes');
    const { alice } = scene.world.people();
    const line = alice.client.api.vault[':vaultId']['policy-change'];
    for (let i = 1; i <= CHANGES; i++) {
      const json = { addDevices: [ScriptDevice.create().enrolment(alice.id)], note: `Device number ${i}.` };
      await unwrap(line.$post({ param: { vaultId: String(id) }, json }));
    }
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, `/vault/${id}/policy`);
    await page.getByText(`Device number ${CHANGES}.`).waitFor();
    expect(await page.getByText('Device number 1.').count()).toBe(0);
    for (;;) {
      const more = page.getByRole('button', { name: 'Load older changes' });
      if ((await more.count()) === 0) break;
      const before = await page.locator('article.proposal').count();
      await more.click();
      await expect.poll(() => page.locator('article.proposal').count()).toBeGreaterThan(before);
    }
    await page.getByText('Device number 1.').waitFor();
    expect(await page.getByText(/^Note by you: “Device number \d+\.”$/).count()).toBe(CHANGES);
  });

  test('an asset of a later page is in the balances and can be chosen for a transfer', async () => {
    const { page } = await scene.pageOf('alice');
    const { balances } = await unwrap(
      scene.world
        .people()
        .alice.client.api.vault[':vaultId'].balances.$get({ param: { vaultId: String(scene.vault.id) }, query: {} }),
    );
    const [native] = balances;
    const token = (i: number) => ({
      ...native,
      tokenAddress: `0x${i.toString(16).padStart(40, '0')}`,
      asset: { ...native?.asset, symbol: `TOKEN-${i}`, ...(i % 2 === 0 ? UNLISTED : {}) },
    });
    const all = Array.from({ length: TOKENS }, (_, i) => token(i + 1));
    await page.route(/\/vault\/\d+\/balances/, (route) => {
      const isSecond = new URL(route.request().url()).searchParams.get('cursor') === 'next';
      const json = { balances: isSecond ? all.slice(100) : all.slice(0, 100), nextCursor: isSecond ? null : 'next' };
      return route.fulfill({ json });
    });
    await scene.goTo(page, `/vault/${scene.vault.id}`);
    await page.getByText(`TOKEN-${TOKENS - 1}`).waitFor();
    // Tokens that any outsider can send do not push the history off the screen.
    expect(await page.getByText(`TOKEN-${TOKENS}`).isVisible()).toBe(false);
    await page.getByText(`${TOKENS / 2} unlisted tokens`).click();
    await page.getByText(`TOKEN-${TOKENS}`).waitFor();
    await scene.goTo(page, `/vault/${scene.vault.id}/transfer`);
    await page.getByRole('heading', { name: 'New transfer' }).waitFor();
    const options = page.getByRole('option', { name: /TOKEN-\d+/ });
    await expect.poll(() => options.count()).toBe(TOKENS);
  });

  test('every record of a long history is reached, and its address keeps the loaded pages', async () => {
    const { alice } = scene.world.people();
    const { id } = await scene.world.vault('long history', { mostPending: 2 * RECORDS });
    const to = await scene.world.chain.account(7);
    for (let from = 1; from <= RECORDS; from += AT_ONCE) {
      const numbers = Array.from({ length: AT_ONCE }, (_, i) => from + i);
      await Promise.all(
        numbers.map((number) => alice.client.transfer({ vaultId: id, chain: 'anvil', to, amount: String(number) })),
      );
    }
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, `/vault/${id}`);
    const history = page.getByRole('region', { name: 'History' });
    const more = history.getByRole('button', { name: 'Load more' });
    const count = () => history.getByRole('listitem').count();
    for (;;) {
      await history.getByRole('listitem').first().waitFor();
      const before = await count();
      if ((await more.count()) === 0) break;
      await more.click();
      await expect.poll(count).toBeGreaterThan(before);
    }
    const links = () =>
      history.getByRole('link').evaluateAll((all) => new Set(all.map((link) => link.getAttribute('href'))).size);
    expect([await count(), await links()]).toEqual([RECORDS, RECORDS]);
    await page.reload();
    await expect.poll(count).toBe(RECORDS);
    expect(await links()).toBe(RECORDS);
  });
});
