import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { World } from '../e2e/world.ts';
import { finished } from '../e2e/world.ts';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { chromiumHere } from './chromium.ts';

/** Three people enrol passkeys at the dashboard, turn to devices, and two of them pay: the browser has the passkeys, and the co-signers check them. */

const executable = chromiumHere();

describe.skipIf(executable === null)('with passkeys', () => {
  let scene: BrowserWorld;
  let world: World;
  let vault: ReadyVault;
  let url: string;
  let alice: Page;
  let bob: Page;
  let carol: Page;
  const complaints: (readonly string[])[] = [];

  beforeAll(async () => {
    // Passkeys are of a name; a number is none.
    scene = await startBrowserWorld(executable ?? '', (here) => here.replace('127.0.0.1', 'localhost'));
    ({ world, url, vault } = scene);
    [alice, bob, carol] = [await withPasskeys('alice'), await withPasskeys('bob'), await withPasskeys('carol')];
  }, 120_000);
  afterAll(() => scene.end());

  /** Somebody in front of a device with a fingerprint reader of its own. */
  async function withPasskeys(name: string): Promise<Page> {
    const { page, complaints: own } = await scene.keptPageOf(name);
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    complaints.push(own);
    return page;
  }

  const policyPage = (page: Page) => page.goto(`${url}/#/vault/${vault.id}/policy`);
  const proposal = (page: Page, note: string) => page.getByRole('article').filter({ hasText: note });

  async function approved(page: Page, note: string): Promise<void> {
    await page.reload();
    const button = proposal(page, note).getByRole('button', { name: 'Approve', exact: true });
    await button.click();
    await button.waitFor({ state: 'detached' });
  }

  test('a passkey is proposed by its owner, and speaks when a quorum has said so', async () => {
    for (const page of [alice, bob, carol]) await policyPage(page);
    for (const [page, name] of [
      [alice, 'alice'],
      [bob, 'bob'],
      [carol, 'carol'],
    ] as const) {
      const note = `Add a passkey of ${name}`;
      await page.getByRole('button', { name: 'Add passkey' }).click();
      await Promise.race([proposal(page, note).waitFor(), page.getByRole('alert').waitFor()]);
      expect(await page.getByRole('alert').allTextContents()).toEqual([]);
      await approved(alice, note);
      await approved(bob, note);
    }
    await alice.reload();
    await alice.getByText('Passkey of localhost').first().waitFor();
    expect(await alice.getByText('Passkey of localhost').count()).toBe(3);
  }, 60_000);

  test('a device that is lost is taken out by a quorum, and another one put in', async () => {
    const [note, again] = [/^Remove device/, 'Add a passkey of carol'];
    const mine = carol.getByRole('listitem').filter({ hasText: 'owned by you' });
    await carol.reload();
    await mine.getByRole('button', { name: 'Remove' }).click();
    const removal = (page: Page) => page.getByRole('article').filter({ hasText: note });
    await removal(carol).waitFor();
    for (const page of [alice, bob]) {
      await page.reload();
      const yes = removal(page).getByRole('button', { name: 'Approve', exact: true });
      await yes.click();
      await yes.waitFor({ state: 'detached' });
    }
    await alice.reload();
    await alice.getByText('Passkey of localhost').first().waitFor();
    expect(await alice.getByText('Passkey of localhost').count()).toBe(2);
    await carol.reload();
    await carol.getByRole('button', { name: 'Add passkey' }).click();
    for (const page of [alice, bob]) await approved(page, again);
    await alice.reload();
    await alice.getByText('Passkey of localhost').nth(2).waitFor();
  }, 60_000);

  test('with devices counting, both approve a payment by their passkeys, and it is paid', async () => {
    const people = world.people();
    const line = people.alice.client.api.vault[':vaultId']['policy-change'];
    const param = { vaultId: String(vault.id) };
    const json = { approvalMode: 'device' as const, note: 'Devices from now on' };
    await unwrap(line.$post({ param, json }));
    for (const page of [alice, bob]) await approved(page, json.note);
    const to = await world.chain.account(7);
    const { id } = await people.alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to, amount: '1000' });
    for (const page of [alice, bob]) {
      await page.goto(`${url}/#/transaction/${id}`);
      await page.getByRole('button', { name: 'Approve with a passkey' }).click();
      await page.getByRole('button', { name: 'Approve with a passkey' }).waitFor({ state: 'detached' });
    }
    const done = await finished(people.alice, id);
    expect([done.state, done.approvals.map(({ device }) => device?.authenticatorData !== null)]).toEqual([
      'SUCCEEDED',
      [true, true],
    ]);
    // Chromium advises to offer RSA as well; co-signers check P-256 alone.
    expect(complaints.flat().filter((one) => !one.includes('pubKeyCredParams'))).toEqual([]);
  }, 60_000);
});
