import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { confirmInDialog } from '../confirm-in-dialog.ts';
import { violationsOf } from '../shell/violations.ts';

/** Covers the page on which an admin stops a member, or one credential of a member. */

const executable = chromiumHere();

describe.skipIf(executable === null)('the members of a vault', () => {
  let scene: BrowserWorld;
  let admin: Page;
  let path: string;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    const { carol } = scene.world.people();
    const member = `/internal/vault/${scene.vault.id}/member/${carol.id}`;
    await scene.world.service().request('PUT', member, { body: { roles: ['signer', 'admin'] } });
    ({ page: admin } = await scene.keptPageOf('carol'));
    path = `/vault/${scene.vault.id}`;
  });
  afterAll(() => scene.end());

  const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: `“${name}”` });
  const statusFor = async (person: 'alice' | 'bob') => {
    const { client } = scene.world.people()[person];
    const param = { vaultId: String(scene.vault.id) };
    return (await client.api.vault[':vaultId'].policy.$get({ param, query: {} })).status;
  };

  test('an admin disables a signer, and enables the signer again', async () => {
    await scene.goTo(admin, path);
    await admin.getByRole('link', { name: 'Members' }).click();
    await row(admin, 'bob').getByText('Enabled').waitFor();
    // An admin does not stop the own access.
    expect(await row(admin, 'carol').getByRole('button').count()).toBe(0);
    await admin.getByRole('button', { name: 'Disable “bob”' }).click();
    await confirmInDialog(admin, 'Disable');
    await row(admin, 'bob').getByText('By an admin of this vault').waitFor();
    expect([await statusFor('alice'), await statusFor('bob')]).toEqual([200, 403]);
    await admin.getByRole('button', { name: 'Disable “alice”' }).click();
    await confirmInDialog(admin, 'Disable');
    await row(admin, 'alice').getByText('The remaining signers would have no quorum').waitFor();
    expect(await violationsOf(admin)).toEqual([]);
    await admin.getByRole('button', { name: 'Enable “bob”' }).click();
    await row(admin, 'bob').getByText('Enabled').waitFor();
    expect(await statusFor('bob')).toBe(200);
  });

  test('an admin ends one credential of a member in this vault', async () => {
    expect(await statusFor('bob')).toBe(200);
    await scene.goTo(admin, `${path}/members`);
    await admin.getByText('Tokens and sessions of “bob”').click();
    await row(admin, 'bob').getByText('last used').first().waitFor();
    await row(admin, 'bob').getByRole('button', { name: 'End token' }).first().click();
    await confirmInDialog(admin, 'End');
    await row(admin, 'bob').getByText('Refused').waitFor();
    expect([await statusFor('alice'), await statusFor('bob')]).toEqual([200, 403]);
  });

  test('a member who is no admin sees the members, and stops none', async () => {
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, `${path}/members`);
    await row(page, 'bob').waitFor();
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    expect(await page.locator('main details').count()).toBe(0);
  });

  test('a person logs out everywhere, and the token that was made in the session is deleted', async () => {
    const { page } = await scene.pageOf('alice');
    await scene.goTo(page, '/tokens');
    await page.getByLabel('Name', { exact: true }).fill('new');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Copy the token “new” now').waitFor();
    await page.getByRole('button', { name: 'Log out everywhere and delete new tokens' }).click();
    await confirmInDialog(page, 'Log out and delete');
    await page.getByRole('link', { name: 'Log in' }).waitFor();
    // A session of the last day made every token of this person.
    const { alice } = scene.world.people();
    const { body } = await scene.world.service().request('GET', `/internal/user/${alice.id}/credential`);
    expect(body).toEqual({ disabled: false, data: [], nextCursor: null });
  });
});
