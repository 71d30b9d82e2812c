import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { confirmInDialog } from '../confirm-in-dialog.ts';
import { layoutFaultsOf } from '../shell/layout-faults.ts';
import { violationsOf } from '../shell/violations.ts';

/** Covers that a vault stands apart, without an address, until its new member accepts it. */

const executable = chromiumHere();

describe.skipIf(executable === null)('a vault that a member has not accepted', () => {
  let scene: BrowserWorld;
  let page: Page;
  let id: number;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    const { alice, mallory } = scene.world.people();
    const json = {
      // It looks like the name of the vault of the scene.
      name: 'Tr\u0435asury',
      members: [mallory, alice].map((person) => ({ userId: person.id, roles: ['signer' as const] })),
      threshold: 1,
      initialState: 'SUBMITTED' as const,
      chains: ['anvil'],
      approvalMode: 'token' as const,
    };
    ({ id } = await unwrap(scene.world.service().api.internal.vault.$post({ json })));
    ({ page } = await scene.keptPageOf('alice', { viewport: { width: 390, height: 844 } }));
  });
  afterAll(() => scene.end());

  const invitations = () => page.getByRole('region', { name: 'Invitations' });

  test('is shown apart with its twin, and has no page', async () => {
    await scene.goTo(page, '/');
    await invitations().getByText(`“Tr\u0435asury”, number ${id}`).first().waitFor();
    await invitations().getByText(`“treasury”, number ${scene.vault.id}`).waitFor();
    expect(await page.locator('.cards').getByText('Tr\u0435asury').count()).toBe(0);
    expect([await violationsOf(page), await layoutFaultsOf(page)]).toEqual([[], []]);
    await scene.goTo(page, `/vault/${id}/receive`);
    await page.getByText('accept the vault on the page of your vaults').waitFor();
  });

  test('is declined, and accepted after all', async () => {
    await scene.goTo(page, '/');
    await invitations().getByRole('button', { name: 'Decline' }).click();
    await page.getByText('Vaults that you declined (1)').click();
    await page.getByRole('button', { name: 'Accept' }).click();
    await confirmInDialog(page, 'Accept');
    await page.locator('.cards').getByRole('link', { name: 'Tr\u0435asury' }).waitFor();
    await page.locator('.cards').getByText(`This is number ${scene.vault.id}.`).waitFor();
    await page.getByText('Vaults that you declined').waitFor({ state: 'detached' });
  });
});
