import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { confirmInDialog } from '../confirm-in-dialog.ts';

/**
 * Covers an operator's credential reset: the dashboard announces it to the person and to the
 * members of that person's vaults, who can cancel it.
 */

const executable = chromiumHere();

describe.skipIf(executable === null)('the banner of a credential reset', () => {
  let scene: BrowserWorld;
  let alice: Page;
  let bob: Page;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    ({ page: alice } = await scene.keptPageOf('alice'));
    ({ page: bob } = await scene.keptPageOf('bob'));
    // A person who uses no credential needs no reset.
    for (const page of [alice, bob]) await page.getByRole('link', { name: 'treasury' }).waitFor();
  });
  afterAll(() => scene.end());

  const aliceNow = () => scene.world.people().alice;
  const requested = async (): Promise<string> => {
    const path = `/internal/user/${aliceNow().id}/credential-reset`;
    const { status, body } = await scene.world.service().request<{ readonly id: string }>('POST', path);
    expect(status).toBe(201);
    return body.id;
  };
  const openResets = async () => {
    const { data } = await unwrap(aliceNow().client.api.user.me['credential-reset'].$get());
    return data.filter(({ state }) => state === 'PENDING' || state === 'READY').map(({ id }) => id);
  };
  const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'requested new credentials' });
  /** Opens the question and leaves it: the reset stays open. */
  const keep = async (page: Page, id: string) => {
    await page.getByRole('button', { name: 'Cancel the reset' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this credential reset?' });
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await openResets()).toEqual([id]);
  };
  /** Opens the page anew, as its reader would. */
  const opened = async (page: Page, path: string) => {
    await scene.goTo(page, path);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  test('the person sees the reset on their first page, and cancels it there', async () => {
    await opened(alice, '/');
    expect(await banner(alice).count()).toBe(0);
    const id = await requested();
    expect(await openResets()).toEqual([id]);
    // The open page shows it within seconds.
    await banner(alice).getByText('If you did not ask for this, cancel it now.').waitFor();
    // Bob sees the reset in the vault that he shares with alice. He has no reset of his own.
    await opened(bob, '/');
    expect(await banner(bob).count()).toBe(0);
    await keep(alice, id);
    await alice.getByRole('button', { name: 'Cancel the reset' }).click();
    await confirmInDialog(alice, 'Cancel credential reset');
    await banner(alice).waitFor({ state: 'detached' });
    expect(await openResets()).toEqual([]);
  });

  test('a member sees the reset in the vault, with the name of the person, and cancels it there', async () => {
    const path = `/vault/${scene.vault.id}`;
    await opened(bob, path);
    expect(await banner(bob).count()).toBe(0);
    const id = await requested();
    await banner(bob).getByText('requested new credentials for alice.').waitFor();
    expect(await openResets()).toEqual([id]);
    await keep(bob, id);
    await bob.getByRole('button', { name: 'Cancel the reset' }).click();
    await confirmInDialog(bob, 'Cancel credential reset');
    await banner(bob).waitFor({ state: 'detached' });
    expect(await openResets()).toEqual([]);
    await opened(alice, path);
    expect(await banner(alice).count()).toBe(0);
  });
});
