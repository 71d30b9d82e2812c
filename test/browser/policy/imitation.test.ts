import type { Page } from 'playwright-core';
import type { Address } from 'viem';
import { erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere, PATIENCE_MS } from '../chromium.ts';
import { confirmInDialog } from '../confirm-in-dialog.ts';

const executable = chromiumHere();

/**
 * Covers the story of two tokens with one symbol: the quorum adopts the contract of one, and an
 * outsider sends the other. The limit of the policy is on the right contract at the end.
 */
describe.skipIf(executable === null)('a token that imitates another one', () => {
  let scene: BrowserWorld;
  let real: Address;
  let fake: Address;
  let fakeId: string;
  let page: Page;

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    const { chain } = scene.world;
    const outsider = await chain.account(0);
    real = getAddress(await chain.deployDollar(outsider, 1_000_000_000_000n));
    fake = getAddress(await chain.deployDollar(outsider, 1_000_000_000_000n));
    ({ page } = await scene.keptPageOf('alice'));
  });
  afterAll(() => scene.end());

  const path = () => `/vault/${scene.vault.id}`;
  const param = () => ({ vaultId: String(scene.vault.id) });

  /** An outsider sends an amount of a token. Returns the id of its record. */
  async function receive(token: Address, units: bigint): Promise<string> {
    const client = anvilClient(scene.world.chainUrl);
    const account = getAddress(await scene.world.chain.account(0));
    const args = [getAddress(scene.vault.address), units] as const;
    const hash = await client.writeContract({ account, address: token, abi: erc20Abi, functionName: 'transfer', args });
    await client.mined(hash);
    expect(await report(scene.world.stack().monitor, hash)).toBe(200);
    const line = scene.world.people().alice.client.api.vault[':vaultId'].transactions;
    const found = async () => {
      const { transactions } = await unwrap(line.$get({ param: param(), query: { visible: 'all', limit: '100' } }));
      return transactions.find(({ txHash }) => txHash === hash) ?? null;
    };
    return (await pollUntil(`a record of ${hash}`, found, PATIENCE_MS)).id;
  }

  /** The quorum adds a contact to the address book. */
  async function adoptContact(address: string, name: string): Promise<void> {
    const changes = scene.world.people().alice.client.api.vault[':vaultId']['policy-change'];
    const json = { addressBook: [{ chain: 'anvil', address, name }] };
    const { id } = await unwrap(changes.$post({ param: param(), json }));
    await scene.approveChange(id);
  }

  test('the quorum adopts a token that the form compares with its contract, and limits it in the same change', async () => {
    await scene.goTo(page, `${path()}/rules`);
    await page.getByRole('button', { name: 'Add a token' }).click();
    const token = page.getByRole('group', { name: 'token 1' });
    await token.getByLabel('Contract').fill(real);
    await token.getByLabel('Symbol').fill('DUSD');
    await token.getByLabel('Decimals').fill('18');
    await page.getByRole('button', { name: 'Add a limit' }).click();
    const limit = page.getByRole('group', { name: 'limit 1' });
    await limit.getByLabel('Asset').selectOption(`DUSD on anvil, contract ${short(real)}`);
    await limit.getByLabel('Per transaction').fill('100,000');
    const submit = page.getByRole('button', { name: 'Submit for approval' });
    await submit.click();
    // The contract reports 6 decimals, so a limit of 18 decimals would be none.
    await page.getByRole('alert').filter({ hasText: 'The token has 6.' }).waitFor();
    await token.getByLabel('Decimals').fill('6');
    await submit.click();
    for (const name of ['alice', 'bob'] as const) {
      const person = name === 'alice' ? page : (await scene.pageOf(name)).page;
      await scene.goTo(person, `${path()}/policy`);
      const decision = person.getByRole('region', { name: 'Review and approve' });
      await decision.getByText(`Added: Limit, anvil (eip155:31337), DUSD at ${real}`).waitFor();
      await decision.getByText('100\u202f000 DUSD per transaction, no limit in 24 hours').waitFor();
      await decision.getByRole('button', { name: 'Approve', exact: true }).click();
      await decision.getByRole('button', { name: 'Approve', exact: true }).waitFor({ state: 'detached' });
    }
    const { policy } = await unwrap(
      scene.world.people().alice.client.api.vault[':vaultId'].policy.$get({ param: param(), query: {} }),
    );
    expect(policy.limits).toEqual([
      { chain: 'anvil', tokenAddress: real, perTransaction: '100000000000', perDay: null },
    ]);
  });

  test('a deposit of the adopted token is shown, and one of the imitation is hidden', async () => {
    await receive(real, 755_000_000_000n);
    fakeId = await receive(fake, 250_000_000_000n);
    await scene.goTo(page, path());
    await page.getByRole('row').getByText('755\u202f000 DUSD').first().waitFor();
    expect(await page.getByText('unlisted token').count()).toBe(0);
    await scene.goTo(page, `/transaction/${fakeId}`);
    await page.getByText('Hidden by a rule').waitFor();
    const heading = await page.getByRole('heading', { level: 1 }).textContent();
    expect(heading).toContain(`Received an unlisted token ${short(fake)}`);
    expect(heading).not.toMatch(/DUSD|250/);
  });

  test('the name of a sender is a claim, and a sender that an unlisted token names has none', async () => {
    const sender = getAddress(await scene.world.chain.account(0));
    await adoptContact(sender, 'Falcon Ltd');
    const realId = await receive(real, 1_000_000n);
    const name = '“Falcon Ltd” in the address book, as the service says.';
    const sent = async (id: string, text: string) => {
      await scene.goTo(page, `/transaction/${id}`);
      await page.getByRole('term').getByText('From').waitFor();
      await page.getByRole('definition').getByText(text, { exact: true }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toContain('Falcon');
    };
    await sent(realId, name);
    await sent(fakeId, `${name} The contract of an unlisted token can name any sender.`);
    await scene.goTo(page, `${path()}?visible=all`);
    const row = (id: string) => page.getByRole('listitem').filter({ has: page.locator(`a[href$="${id}"]`) });
    await row(realId)
      .getByText(`“Falcon Ltd” (${short(sender)})`)
      .waitFor();
    expect(await row(fakeId).textContent()).not.toContain('Falcon');
  });

  test('the imitation is shown after a question with the reason, below the real token and with its mark', async () => {
    await scene.goTo(page, `/transaction/${fakeId}`);
    await page.getByRole('button', { name: 'Unhide' }).click();
    await page.getByRole('dialog').getByText('The token has the name of a known asset, and is another one.').waitFor();
    await confirmInDialog(page, 'Show it');
    await page.getByRole('button', { name: 'Hide', exact: true }).waitFor();
    await page.getByText('A member chose to show this.').waitFor();
    await scene.goTo(page, path());
    const rows = page.getByRole('table').getByRole('row');
    await rows.getByText('Imitates DUSD').waitFor();
    const texts = await rows.allTextContents();
    expect(texts.flatMap((text) => /ETH|DUSD/.exec(text)?.[0] ?? [])).toEqual(['ETH', 'DUSD', 'DUSD']);
    expect(texts.at(-1)).toContain(`of unlisted token ${short(fake)}, calls itself “DUSD” Imitates DUSD`);
    expect(texts.at(-2)).toContain('755\u202f001 DUSD');
  });

  test('the policy form offers the contract of the policy alone, and the transfer form marks the imitation', async () => {
    await scene.goTo(page, `${path()}/rules`);
    await page.getByRole('button', { name: 'Add a limit' }).click();
    const options = await page.getByRole('group', { name: 'limit 2' }).getByRole('option').allTextContents();
    expect(options.filter((text) => text.includes('DUSD'))).toEqual([`DUSD on anvil, contract ${short(real)}`]);
    await scene.goTo(page, `${path()}/transfer`);
    await page.getByLabel('Asset').waitFor();
    const assets = await page.getByLabel('Asset').getByRole('option').allTextContents();
    expect(assets.map((text) => text.trim())).toEqual([
      'ETH on anvil',
      `DUSD on anvil, contract ${short(real)}`,
      `unlisted token ${short(fake)}, calls itself “DUSD”, imitates DUSD on anvil`,
    ]);
  });

  test('a payment of the real token above the limit is refused, and below it reads in its units', async () => {
    const { alice } = scene.world.people();
    const to = await scene.world.chain.account(7);
    const order = { vaultId: scene.vault.id, chain: 'anvil', to, tokenAddress: real };
    const above = await alice.client.api.transaction.transfer.$post({ json: { ...order, amount: '600000000000' } });
    expect([above.status, await above.json()]).toMatchObject([422, { code: 'policy-forbids' }]);
    const { id } = await alice.client.transfer({ ...order, amount: '99999500000' });
    await scene.goTo(page, `/transaction/${id}`);
    const sentence = 'Send 99\u202f999.5 DUSD to an address that is not in the address book';
    await page.getByRole('heading', { name: sentence, exact: true }).waitFor();
    await page.getByText('DUSD, named by the policy').first().waitFor();
    await page
      .getByText(/^0\.0+[0-9]+ ETH$|^0\.[0-9]+ ETH$/)
      .first()
      .waitFor();
  });
});

const short = (address: string) => `${address.slice(0, 8)}…${address.slice(-6)}`;
