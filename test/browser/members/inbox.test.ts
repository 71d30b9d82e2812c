import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';

const INBOX = '**/user/me/notifications';

/**
 * Covers the inbox: a person sees that the members of a vault have changed, on any page, and reads
 * it once.
 */

const executable = chromiumHere();

describe.skipIf(executable === null)('the inbox', () => {
  let scene: BrowserWorld;
  let alice: Page;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    ({ page: alice } = await scene.keptPageOf('alice'));
    await alice.getByRole('link', { name: 'treasury' }).waitFor();
  });
  afterAll(() => scene.end());

  const opened = async (path: string) => {
    await scene.goTo(alice, path);
    await alice.reload();
    await alice.getByRole('heading', { level: 1 }).waitFor();
  };
  const hasEntry = (title: string) => async () => {
    const { data } = await unwrap(scene.world.people().alice.client.api.user.me.notifications.$get({ query: {} }));
    return data.some((entry) => entry.title === title) ? true : null;
  };
  const unread = () => alice.getByRole('img', { name: /^[0-9]+ unread$/ });
  const rows = (text: string) =>
    alice.getByRole('region', { name: 'Inbox' }).getByRole('listitem').filter({ hasText: text });

  test('a change of the members is counted in the menu, is new when it is read first, and then is not', async () => {
    // A token has 20 reads a minute.
    await pollUntil('entry of the token', hasEntry('New access token'), 60_000, 3_000);
    await opened('/notifications');
    await alice.getByRole('region', { name: 'Inbox' }).getByRole('listitem').first().waitFor();
    // The open page has marked its entries as read and loaded again. It would do so to a later one.
    await unread().waitFor({ state: 'detached' });
    const { bob } = scene.world.people();
    const member = `/internal/vault/${scene.vault.id}/member/${bob.id}`;
    const roles = ['admin', 'initiator', 'signer'];
    expect((await scene.world.service().request('PUT', member, { body: { roles } })).status).toBe(200);
    await pollUntil('entry of the change', hasEntry('treasury: members changed'), 60_000, 3_000);
    await opened('/');
    await unread().waitFor();
    await alice.getByRole('link', { name: 'Notifications' }).click();
    const change = rows('treasury: members changed');
    await change.getByText('new', { exact: true }).waitFor();
    expect(await change.innerText()).toContain('An operator set the roles of a member: admin, initiator, signer.');
    await unread().waitFor({ state: 'detached' });
    await opened('/notifications');
    await change.waitFor();
    expect(await change.getByText('new', { exact: true }).count()).toBe(0);
    await change.getByRole('link').click();
    await alice.getByRole('heading', { level: 1, name: 'treasury' }).waitFor();
  });

  test('an answer that was read before the entries were marked is not shown after it', async () => {
    const { bob } = scene.world.people();
    const member = `/internal/vault/${scene.vault.id}/member/${bob.id}`;
    expect((await scene.world.service().request('PUT', member, { body: { roles: ['signer'] } })).status).toBe(200);
    const isUnread = async () => {
      const { unread: count } = await unwrap(
        scene.world.people().alice.client.api.user.me.notifications.$get({ query: {} }),
      );
      return count > 0 ? true : null;
    };
    await pollUntil('entry of the change', isUnread, 60_000, 3_000);
    await opened('/');
    await unread().waitFor();
    const read = Promise.withResolvers<void>();
    const marked = Promise.withResolvers<void>();
    let marks = 0;
    await alice.route(`${INBOX}/read`, async (route) => {
      await read.promise;
      const response = await route.fetch();
      marks += 1;
      await route.fulfill({ response });
      marked.resolve();
    });
    await alice.route(INBOX, async (route) => {
      const response = await route.fetch();
      read.resolve();
      await marked.promise;
      await route.fulfill({ response }).catch(() => null);
    });
    await alice.getByRole('link', { name: 'Notifications' }).click();
    await marked.promise;
    await unread().waitFor({ state: 'detached' });
    await alice.unrouteAll({ behavior: 'wait' });
    await alice.getByRole('link', { name: 'API tokens' }).click();
    await alice.getByRole('heading', { level: 1, name: 'API tokens' }).waitFor();
    expect([await unread().count(), marks]).toEqual([0, 1]);
  });
});
