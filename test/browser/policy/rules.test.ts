import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptVault } from '#local/stack/provision.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { confirmInDialog } from '../confirm-in-dialog.ts';

/** Covers signers who change the rules of a policy at the dashboard. */

const executable = chromiumHere();

describe.skipIf(executable === null)('a policy with other rules', () => {
  let scene: BrowserWorld;
  let path: string;

  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    path = `/vault/${scene.vault.id}`;
  });
  afterAll(() => scene.end());

  const policyOf = async () => {
    const { body } = await scene.world
      .people()
      .alice.client.request<{ policy: Record<string, unknown> }>('GET', `${path}/policy`);
    return body.policy;
  };

  test('the form proposes only the fields that differ, and the change is in force after the quorum approves it', async () => {
    const before = await policyOf();
    const landlord = await scene.world.chain.account(7);
    const { page, complaints } = await scene.pageOf('alice');
    const bob = await scene.pageOf('bob');
    await scene.goTo(bob.page, `${path}/policy`);
    await bob.page.getByText('No policy changes.').waitFor();
    await scene.goTo(page, `${path}/rules`);
    const propose = page.getByRole('button', { name: 'Submit for approval' });
    const says = (text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();
    await propose.click();
    await says('No changes.');
    await page.getByLabel('Allowed recipients').selectOption('Address book only');
    await page.getByRole('button', { name: 'Add an address' }).click();
    const address = page.getByRole('group', { name: 'address 1' });
    await address.getByLabel('Name').fill('Landlord');
    await address.getByLabel('Address').fill(` ${landlord} `);
    await page.getByRole('button', { name: 'Add a limit' }).click();
    const limit = page.getByRole('group', { name: 'limit 1' });
    await limit.getByLabel('Per 24 hours').fill('half');
    await propose.click();
    await says('Choose an asset for the amount.');
    await limit.getByLabel('Asset').selectOption('ETH on anvil');
    await propose.click();
    await says('Limit 1, Per 24 hours: Enter an amount such as');
    await limit.getByLabel('Per 24 hours').fill('1,000.5');
    await page.getByRole('button', { name: 'Add a higher threshold' }).click();
    const step = page.getByRole('group', { name: 'higher threshold 1' });
    await step.getByLabel('Asset').selectOption('ETH on anvil');
    await step.getByLabel('Amount above').fill('0.25');
    await step.getByLabel('Approvals').fill('9');
    await propose.click();
    // The server knows the number of signers.
    await says('from 1 to the number of signers');
    await step.getByLabel('Approvals').fill('3');
    await page.getByLabel('Reason').fill('The landlord alone');
    await propose.click();
    await page.getByText('Note by you: “The landlord alone”').waitFor();
    expect(await policyOf()).toEqual(before);
    // The page of bob was open before the proposal.
    for (const person of [page, bob.page]) {
      const article = person.getByRole('article').filter({ hasText: 'The landlord alone' });
      // The expected text is decoded from the bytes of the proposed policy.
      await article.getByText(landlord).first().waitFor();
      await article.getByRole('button', { name: 'Approve', exact: true }).click();
      await article.getByRole('button', { name: 'Approve', exact: true }).waitFor({ state: 'detached' });
    }
    const { hash: _hash, previousHash: _previous, canonical: _canonical, version: _version, ...kept } = before;
    expect(await policyOf()).toMatchObject({
      ...kept,
      version: 2,
      changeThreshold: 3,
      recipients: 'address-book',
      addressBook: [{ chain: 'anvil', address: landlord, name: 'Landlord' }],
      limits: [{ chain: 'anvil', tokenAddress: null, perTransaction: null, perDay: '1000500000000000000000' }],
      higherThresholds: [{ chain: 'anvil', tokenAddress: null, above: '250000000000000000', threshold: 3 }],
    });
    // The browser also logs the refused proposal. It is expected.
    expect(complaints.filter((one) => !one.includes('400'))).toEqual([]);
  });

  test('existing rules appear unchanged in the form, and can be removed there', async () => {
    const { page } = await scene.pageOf('carol');
    await scene.goTo(page, `${path}/rules`);
    const limit = page.getByRole('group', { name: 'limit 1' });
    expect(await limit.getByLabel('Per 24 hours').inputValue()).toBe('1,000.5');
    expect(await page.getByRole('group', { name: 'higher threshold 1' }).getByLabel('Amount above').inputValue()).toBe(
      '0.25',
    );
    await limit.getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('Reason').fill('As much as we like');
    await page.getByRole('button', { name: 'Submit for approval' }).click();
    const article = page.getByRole('article').filter({ hasText: 'As much as we like' });
    await article.getByText('Note by you').waitFor();
    await article.getByRole('button', { name: 'Cancel' }).click();
    await confirmInDialog(page, 'Cancel policy change');
    await article.getByText('Cancelled').waitFor();
    expect((await policyOf())['version']).toBe(2);
  });

  test('a person who is no member sees one message, and no button, on the pages of a vault and a transaction', async () => {
    const id = await scene.transferOf('not for strangers');
    const { page } = await scene.pageOf('mallory');
    await page.getByText('You are not a member of any vault.').waitFor();
    for (const part of ['', '/transfer', '/policy', '/rules', '/receive']) {
      await scene.goTo(page, `${path}${part}`);
      await page.getByText('You are not a member of this vault, or it does not exist.').waitFor();
      expect(await page.locator('.problem').count()).toBe(1);
      expect(await page.locator('main').getByRole('button').count()).toBe(0);
      expect(await page.locator('main').getByRole('link').allTextContents()).toEqual(['Back to your vaults']);
    }
    await scene.goTo(page, `/transaction/${id}`);
    await page.locator('.problem').waitFor();
    expect(await page.locator('.problem').count()).toBe(1);
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
  });

  test('a member who is not a signer sees the policy, and no form to propose another one', async () => {
    const { mallory } = scene.world.people();
    await scene.world
      .service()
      .request('PUT', `/internal/vault/${scene.vault.id}/member/${mallory.id}`, { body: { roles: ['viewer'] } });
    await acceptVault(scene.vault.id, [mallory]);
    const id = await scene.transferOf('watched');
    const { page } = await scene.pageOf('mallory');
    await page.getByRole('link', { name: 'treasury' }).click();
    await page.getByRole('link', { name: 'Receive' }).waitFor();
    expect(await page.getByRole('link', { name: 'New transfer' }).count()).toBe(0);
    for (const [part, needs] of [
      ['transfer', 'initiator or signer'],
      ['rules', 'signer or admin'],
    ]) {
      await scene.goTo(page, `${path}/${part}`);
      await page.getByText(`It needs the role ${needs}.`).waitFor();
      expect(await page.locator('form').count()).toBe(0);
    }
    await scene.goTo(page, `/transaction/${id}`);
    await page.getByRole('heading', { name: '0 of 2 approvals' }).waitFor();
    for (const name of ['Approve', 'Reject', 'Hide', 'Cancel']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await scene.goTo(page, `${path}/policy`);
    await page.getByText('Landlord on anvil').waitFor();
    await page
      .getByText('Up to 0.25 ETH: 2 of 3. Up to 1\u202f000.5 ETH: 3 of 3. Above: refused. In 24 hours: at most')
      .waitFor();
    await page.getByText('Only the address book, with 1 address.').waitFor();
    for (const name of ['Edit policy', 'Add passkey', 'Remove']) {
      expect(await page.getByText(name).count()).toBe(0);
    }
  });
});
