import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { World } from '../e2e/world.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import { finished, reaches, taken } from '../e2e/world.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';
import { confirmInDialog } from './confirm-in-dialog.ts';

/** Covers people at the dashboard in real browsers, one browser for each person. */

const executable = chromiumHere();
if (executable === null) console.warn('No Chromium here: the dashboard is not tested. CHROMIUM names one.');

const SCRIPT = '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>';

describe.skipIf(executable === null)('the dashboard', () => {
  let scene: BrowserWorld;
  let world: World;
  let browser: Browser;
  let vault: ReadyVault;
  let url: string;
  const pageOf: BrowserWorld['pageOf'] = (name, options) => scene.pageOf(name, options);
  const transferOf: BrowserWorld['transferOf'] = (note) => scene.transferOf(note);

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    ({ world, url, vault, browser } = scene);
  });
  afterAll(() => scene.end());

  const openVault = (page: Page) => page.getByRole('link', { name: 'treasury' }).click();

  /** Returns an address that was paid, and another one that looks like it. */
  async function lookalike() {
    const known = await world.chain.account(7);
    const lower = known.toLowerCase();
    return { known, similar: `${lower.slice(0, 8)}${'0'.repeat(lower.length - 14)}${lower.slice(-6)}` };
  }

  test('a visitor who is not logged in sees only the login', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/#/vault/${vault.id}`);
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.close();
  });

  test('bob approves in his browser, and alice sees it arrive in hers, live, without a reload', async () => {
    const [alice, bob] = [await pageOf('alice'), await pageOf('bob')];
    await openVault(alice.page);
    await alice.page.getByRole('heading', { name: 'History' }).waitFor();
    await alice.page.evaluate(() => Object.assign(window, { sameDocument: true }));
    const id = await transferOf('rent');
    const row = alice.page.getByRole('listitem').filter({ hasText: 'Pending approval' });
    await row.getByText('0.001 ETH').waitFor();
    await world.people().alice.client.approve(id);
    // Bob opens the address of the transaction, as from a notification.
    await bob.page.goto(`${url}/#/transaction/${id}`);
    await bob.page.getByRole('heading', { name: '1 of 2 approvals' }).waitFor();
    const approved = bob.page.getByRole('region', { name: 'Review and approve' });
    const sentence = 'Send 0.001 ETH to an address that is not in the address book';
    await bob.page.getByRole('heading', { name: sentence, exact: true, level: 1 }).waitFor();
    for (const shown of ['anvil (eip155:31337)', '0.001 ETH', 'Note by alice: “rent”'])
      await approved.getByText(shown, { exact: true }).first().waitFor();
    await approved.getByText('Proposed by alice, as the service says. 1 of 2 approvals, by alice.').waitFor();
    await approved.getByText('First payment to this address, as the service says.').waitFor();
    await approved.getByText(/^Expected fee: 0\.0\d+ ETH.*, at most 0\.\d+ ETH\./).waitFor();
    const everything = approved.getByText(`version 1, hash`);
    expect(await everything.isVisible()).toBe(false);
    await approved.getByText('Everything that an approval binds').click();
    await everything.waitFor();
    expect(await approved.getByText(id, { exact: true }).isVisible()).toBe(true);
    await bob.page.getByRole('button', { name: 'Approve' }).click();
    await bob.page.getByRole('heading', { name: '2 of 2 approvals' }).waitFor();
    await alice.page.getByRole('listitem').filter({ hasText: 'succeeded' }).getByText('0.001 ETH').waitFor();
    await bob.page.locator('.now').getByText('succeeded').waitFor();
    expect(await alice.page.evaluate(() => 'sameDocument' in window)).toBe(true);
    expect((await finished(world.people().alice, id)).state).toBe('SUCCEEDED');
    expect([alice.complaints, bob.complaints]).toEqual([[], []]);
  });

  test('carol rejects, and the transaction ends there', async () => {
    const carol = await pageOf('carol');
    const id = await transferOf();
    await carol.page.goto(`${url}/#/transaction/${id}`);
    await carol.page.getByRole('button', { name: 'Reject' }).click();
    await confirmInDialog(carol.page, 'Reject');
    await carol.page.locator('.now').getByText('rejected').waitFor();
    expect(await carol.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect((await world.people().alice.client.read(id)).state).toBe('REJECTED');
    // The simulation is refused (409) when it is requested after the rejection.
    expect(carol.complaints.filter((one) => !one.includes('409'))).toEqual([]);
  });

  test('alice proposes a transfer with the values that she typed and sees its cost; a double click creates one transfer', async () => {
    const { page, complaints } = await pageOf('alice');
    await openVault(page);
    await page.getByRole('link', { name: 'New transfer' }).click();
    const [to, amount] = [page.getByLabel('To', { exact: true }), page.getByLabel('Amount')];
    await amount.fill('1');
    await to.fill('0x1234');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByText('To: Enter an address of this chain.', { exact: true }).waitFor();
    await to.fill(await world.chain.account(6));
    for (const [typed, said] of [
      ['1e3', 'Enter an amount such as'],
      ['0.0000000000000000001', 'Enter an amount such as'],
      ['1000', 'insufficient'],
    ] as const) {
      await amount.fill(typed);
      await page.getByRole('button', { name: 'Review' }).click();
      await page
        .getByRole('alert')
        .filter({ hasText: new RegExp(said, 'i') })
        .waitFor();
    }
    await amount.fill('0.0125');
    await page.getByLabel('Note').fill('Typed by hand');
    await page.getByRole('button', { name: 'Review' }).click();
    const shown = page.getByRole('region', { name: 'Review transfer' });
    await shown.getByText('0.0125 ETH').waitFor();
    expect(await shown.getByLabel(/^Normal: /).isChecked()).toBe(true);
    await shown.getByLabel(/^Fast: /).check();
    await shown.getByRole('button', { name: 'Submit for approval' }).dblclick();
    await page.getByRole('heading', { name: '0 of 2 approvals' }).waitFor();
    await page.getByText('Activity log').click();
    await page.getByRole('group').getByText('by you').waitFor();
    const { transactions } = await world.people().alice.client.transactions(vault.id);
    const made = transactions.filter(({ note }) => note === 'Typed by hand');
    expect(made.map(({ amount: units, speed }) => [units, speed])).toEqual([['12500000000000000', 'fast']]);
    // The browser also logs the refused fee estimates. They are expected.
    expect(complaints.filter((one) => !one.includes('422') && !one.includes('400'))).toEqual([]);
  });

  test('a recipient that resembles a paid address gives a warning, and is proposed only after a confirmation', async () => {
    const { page } = await pageOf('alice');
    const { similar } = await lookalike();
    await page.goto(`${url}/#/vault/${vault.id}/transfer`);
    await page.getByLabel('To', { exact: true }).fill(similar);
    await page.getByLabel('Amount').fill('0.001');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('alert').filter({ hasText: 'resembles' }).waitFor();
    await page.getByRole('button', { name: /^Use 0x/ }).click();
    await page.getByText('requires one extra approval').waitFor();
    await page.getByLabel(/^Normal: /).waitFor();
    await page.getByRole('button', { name: 'Submit for approval' }).click();
    await page.getByRole('heading', { name: '0 of 3 approvals' }).waitFor();
  });

  test('a receiving address is shown in full, with a copy button and as a QR code', async () => {
    const { page, complaints } = await pageOf('carol');
    await page.goto(`${url}/#/vault/${vault.id}/receive`);
    await page.getByText(vault.address).waitFor();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    await page.getByRole('heading', { name: 'Anvil', exact: true }).waitFor();
    await page.getByText('Send only assets of Anvil to this address.').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the address on Anvil' }).click();
    await page.getByRole('status').getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(vault.address);
    expect(complaints).toEqual([]);
  });

  test('HTML in a note or a name is shown as text', async () => {
    const alice = await pageOf('alice');
    const id = await transferOf(SCRIPT);
    await alice.page.goto(`${url}/#/transaction/${id}`);
    await alice.page.getByText(SCRIPT).first().waitFor();
    await alice.page.getByRole('link', { name: 'Tokens' }).click();
    await alice.page.getByLabel('Name', { exact: true }).fill(SCRIPT);
    await alice.page.getByRole('button', { name: 'Create' }).click();
    await alice.page.getByText(SCRIPT).first().waitFor();
    expect(await alice.page.title()).toMatch(/^(\(\d+\) )?API tokens · Conclave$/);
    expect(await alice.page.locator('img').count()).toBe(0);
    expect(alice.complaints).toEqual([]);
  });

  test('a token is created, shown once, used by a script, disabled and deleted', async () => {
    const bob = await pageOf('bob');
    await bob.page.getByRole('link', { name: 'Tokens' }).click();
    await bob.page.getByLabel('Name', { exact: true }).fill('nightly');
    for (const [day, said] of [
      ['2020-01-31', 'Expiry: Enter a date in the future.'],
      ['12099-01-31', 'Expiry: Enter a date up to the year 9999.'],
    ] as const) {
      await bob.page.getByLabel('Expiry').fill(day);
      await bob.page.getByRole('button', { name: 'Create' }).click();
      await bob.page.getByText(said, { exact: true }).waitFor();
      expect(await bob.page.locator('.secret').count()).toBe(0);
    }
    await bob.page.getByLabel('Expiry').fill('2099-01-31');
    await bob.page.getByLabel('Create and cancel').uncheck();
    await bob.page.getByText('Limit to vaults or addresses').click();
    await bob.page.getByLabel(`(vault ${vault.id})`).check();
    await bob.page.getByRole('button', { name: 'Create' }).click();
    const value = (await bob.page.locator('.secret').textContent()) ?? '';
    const script = new Client(url, value);
    expect((await script.request('GET', '/user/me')).status).toBe(200);
    const change = await script.request('POST', `/vault/${vault.id}/policy-change`, { body: { threshold: 1 } });
    expect([change.status, change.body]).toMatchObject([403, { code: 'insufficient-scope', scope: 'create' }]);
    await bob.page.reload();
    await bob.page.getByText(`, vault ${vault.id}`).waitFor();
    const nightly = bob.page.getByRole('listitem').filter({ hasText: 'nightly' });
    await nightly.getByText('by “node”').waitFor();
    await nightly.getByRole('button', { name: 'Rename' }).click();
    await bob.page.getByLabel('New name').fill('weekly');
    await bob.page.getByRole('button', { name: 'Save' }).click();
    const row = bob.page.getByRole('listitem').filter({ hasText: 'weekly' });
    await row.getByRole('button', { name: 'Disable' }).click();
    await confirmInDialog(bob.page, 'Disable');
    await row.getByText('Disabled').waitFor();
    expect((await script.request('GET', '/user/me')).status).toBe(401);
    await row.getByRole('button', { name: 'Delete' }).click();
    await confirmInDialog(bob.page, 'Delete');
    await row.waitFor({ state: 'detached' });
    await bob.page.reload();
    await bob.page.getByRole('heading', { name: 'New API token' }).waitFor();
    expect(await bob.page.content()).not.toContain(value);
    expect(bob.complaints).toEqual([]);
  });

  test('the history filters its entries, and loads further pages when the reader scrolls', async () => {
    const { page, complaints } = await pageOf('alice');
    const rejected = await transferOf('not this one');
    await world.people().bob.client.request('POST', `/transaction/${rejected}/reject`);
    await openVault(page);
    const rows = page.getByRole('region', { name: 'History' }).getByRole('listitem');
    await page.getByLabel('Status').selectOption('Rejected');
    await rows.filter({ hasText: 'rejected' }).first().waitFor();
    expect(await rows.count()).toBe(await rows.filter({ hasText: 'rejected' }).count());
    await page.getByLabel('Status').selectOption('Pending approval');
    await page.getByLabel('Direction').selectOption('Incoming');
    await page.getByText('No matching transactions.').waitFor();
    await page.getByLabel('Direction').selectOption('Outgoing');
    await rows.first().waitFor();
    const before = await rows.count();
    const id = await transferOf('comes and goes');
    const row = page.locator(`a[href="#/transaction/${id}"]`);
    await row.waitFor();
    expect(await rows.count()).toBe(before + 1);
    // A cancelled transaction needs no approvals any more.
    await world.people().alice.client.request('POST', `/transaction/${id}/cancel`);
    await row.waitFor({ state: 'detached' });
    await page.getByLabel('Status').selectOption('All statuses');
    await row.waitFor();
    expect(complaints).toEqual([]);
  });

  test('the creator cancels a proposal, hides it from the list and shows it again', async () => {
    const [alice, bob] = [await pageOf('alice'), await pageOf('bob')];
    const id = await transferOf('on second thoughts');
    for (const { page } of [alice, bob]) await scene.goTo(page, `/transaction/${id}`);
    await bob.page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await bob.page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await alice.page.getByRole('button', { name: 'Cancel' }).click();
    await confirmInDialog(alice.page, 'Cancel transaction');
    for (const { page } of [alice, bob]) await page.locator('.now').getByText('cancelled').waitFor();
    expect(await bob.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    // Another member hides no payment of the vault.
    expect(await bob.page.getByRole('button', { name: 'Hide' }).count()).toBe(0);
    await alice.page.getByRole('button', { name: 'Hide' }).click();
    for (const { page } of [alice, bob]) await page.getByRole('button', { name: 'Unhide' }).waitFor();
    await scene.goTo(alice.page, `/vault/${vault.id}`);
    const row = alice.page.locator(`a[href="#/transaction/${id}"]`);
    await alice.page.getByLabel('Visibility').selectOption('Hidden');
    await row.waitFor();
    await bob.page.getByRole('button', { name: 'Unhide' }).click();
    await row.waitFor({ state: 'detached' });
    expect([alice.complaints, bob.complaints]).toEqual([[], []]);
  });

  test('a transaction that is not yet mined is sped up or cancelled from its page', async () => {
    const { page, complaints } = await pageOf('alice');
    const miner = anvilClient(world.chainUrl);
    await miner.setAutomine(false);
    const id = await transferOf('slow');
    await world.approve(id);
    await taken(world.people().alice, id);
    await scene.goTo(page, `/transaction/${id}`);
    await page.getByRole('button', { name: 'Speed up' }).click();
    await reaches(world.people().alice, id, ({ attempts }) => attempts[1]?.outcome === 'accepted');
    await page.getByRole('button', { name: 'Cancel on chain' }).click();
    await confirmInDialog(page, 'Cancel on chain');
    await reaches(world.people().alice, id, ({ attempts }) => attempts[2]?.outcome === 'accepted');
    await miner.mine({ blocks: 1 });
    await miner.setAutomine(true);
    await page.locator('.now').getByText('cancelled').waitFor();
    expect(complaints).toEqual([]);
  });

  test('balances and pending amounts are shown beside the approval', async () => {
    const { page, complaints } = await pageOf('bob');
    await scene.goTo(page, `/transaction/${await transferOf('foreseen')}`);
    const shown = page.getByRole('region', { name: 'Simulation' });
    await shown.getByText('Sent').waitFor();
    await shown.getByText('0.001 ETH').waitFor();
    const { client } = world.people().alice;
    const token = await world.chain.deployDollar(vault.address, 5n);
    const json = {
      vaultId: vault.id,
      chain: 'anvil',
      tokenAddress: token,
      spender: await world.chain.account(7),
      amount: '5',
    };
    const { id } = await unwrap(client.api.transaction['erc20-approve'].$post({ json }));
    await scene.goTo(page, `/transaction/${id}`);
    await shown.getByText('Allowance to', { exact: true }).waitFor();
    await shown.getByText(json.spender).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the dashboard closes after a logout, and after the session ends elsewhere', async () => {
    const alice = await pageOf('alice');
    await alice.page.getByRole('button', { name: 'Log out' }).click();
    await alice.page.getByRole('link', { name: 'Log in' }).waitFor();
    const bob = await pageOf('bob');
    const answer = await bob.page.evaluate(async () => (await fetch('/sessions', { method: 'DELETE' })).status);
    expect(answer).toBe(204);
    await bob.page.reload();
    await bob.page.getByRole('link', { name: 'Log in' }).waitFor();
  });

  test.each([
    ['on a desktop', { width: 1200, height: 900 }],
    ['on a phone', { width: 390, height: 844 }],
  ] as const)(
    'the layout does not shift while the page loads, %s',
    async (_where, viewport) => {
      const id = await transferOf('to be loaded');
      const { page } = await pageOf('bob', { viewport });
      await page.addInitScript(() => {
        const seen = Object.assign(window, { jumped: 0 });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) seen.jumped += (entry as unknown as { value: number }).value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      for (const path of ['/', `/vault/${vault.id}`, `/vault/${vault.id}/policy`, `/transaction/${id}`, '/tokens']) {
        await page.goto('about:blank');
        await scene.goTo(page, path);
        await page.locator('h1').waitFor();
        for (const loading of await page.locator('.loading').all()) await loading.waitFor({ state: 'detached' });
        const jumped = await page.evaluate(() => (window as unknown as { jumped: number }).jumped);
        // The limit of Web Vitals for a good page.
        expect([path, jumped < 0.1 ? 'still' : jumped]).toEqual([path, 'still']);
      }
    },
    60_000,
  );
});
