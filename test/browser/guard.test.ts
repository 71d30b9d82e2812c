import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserWorld } from './browser-world.ts';
import { startBrowserWorld } from './browser-world.ts';
import { PATIENCE_MS, wholeChromiumHere } from './chromium.ts';

/**
 * Covers who may use a page and for how long: requests from other sites, ended sessions, and
 * notifications while no page is open.
 */

const executable = wholeChromiumHere();

describe.skipIf(executable === null)('the dashboard and its surroundings', () => {
  let scene: BrowserWorld;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
  });
  afterAll(() => scene.end());

  const statesNow = async () => {
    const { transactions } = await scene.world.people().alice.client.transactions(scene.vault.id);
    return transactions.map(({ id, state, approvals }) => [id, state, approvals.length]);
  };

  test.each(['127.0.0.1', 'localhost'])(
    "a page of another origin (%s) cannot make a user's browser pay, approve or log out",
    async (host) => {
      const { page } = await scene.pageOf('alice');
      const id = await scene.transferOf('bait');
      const before = await statesNow();
      const { address: to } = scene.vault;
      const body = JSON.stringify({ vaultId: scene.vault.id, chain: 'anvil', to, amount: '1' });
      const attacks = [
        ['POST', '/transaction/transfer', body],
        ['POST', `/transaction/${id}/approve`, ''],
        ['POST', `/transaction/${id}/reject`, ''],
        ['DELETE', '/session', ''],
        ['POST', '/session/access-token', JSON.stringify({ name: 'mine now', expiresAt: null })],
      ] as const;
      const forms = attacks
        .filter(([method]) => method === 'POST')
        .map(
          ([, path], i) =>
            `<form id="f${i}" method="post" enctype="text/plain" action="${scene.url}${path}">` +
            `<input name='{"a":"' value='"}'></form>`,
        );
      const evil = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end(`<title>Prizes</title>${forms.join('')}`);
      });
      await new Promise<void>((resolve) => void evil.listen(0, '127.0.0.1', resolve));
      const { port } = evil.address() as AddressInfo;
      const prizes = `http://${host}:${port}/`;
      const bait = await page.context().newPage();
      await bait.goto(prizes);
      for (const [method, path, sent] of attacks) {
        for (const mode of ['no-cors', 'cors'] as const) {
          await bait.evaluate(
            async ([url, how, which, text]) => {
              const options = {
                method: how,
                mode: which,
                credentials: 'include' as const,
                ...(text === '' ? {} : { body: text }),
              };
              await fetch(url, options).catch(() => null);
            },
            [`${scene.url}${path}`, method, mode, sent] as const,
          );
        }
      }
      for (let i = 0; i < forms.length; i++) {
        await bait.goto(prizes);
        const [response] = await Promise.all([
          bait.waitForResponse((one) => one.url().startsWith(scene.url)),
          bait.waitForURL((url) => url.href.startsWith(scene.url)),
          bait.evaluate((name) => (document.getElementById(name) as HTMLFormElement).submit(), `f${i}`),
        ]);
        expect(response.status()).toBeGreaterThanOrEqual(400);
      }
      evil.close();
      evil.closeAllConnections();
      expect(await statesNow()).toEqual(before);
      // She is still logged in, and has no token that she did not create.
      await page.reload();
      await page.getByRole('link', { name: 'Tokens' }).click();
      await page.getByRole('listitem').first().waitFor();
      expect(await page.getByText('mine now').count()).toBe(0);
    },
    60_000,
  );

  test('an ended session is reported at the next action, and the same page returns after the next login', async () => {
    const [here, there] = [await scene.pageOf('bob'), await scene.pageOf('bob')];
    const id = await scene.transferOf('while away');
    await scene.goTo(here.page, `/transaction/${id}`);
    await here.page.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await there.page.evaluate(async () => (await fetch('/sessions', { method: 'DELETE' })).status)).toBe(204);
    await here.page.getByRole('button', { name: 'Approve' }).click();
    const back = here.page.getByRole('link', { name: 'Log in' });
    await back.waitFor();
    expect((await scene.world.people().alice.client.read(id)).approvals).toEqual([]);
    await back.click();
    await loggedIn(here.page, 'bob');
    await here.page.getByRole('button', { name: 'Approve' }).waitFor();
  });

  test('a refused event stream reconnects and delivers the changes that it missed', async () => {
    const { page } = await scene.pageOf('carol');
    await scene.transferOf('before');
    let refusals = 0;
    await page.route('**/events', (route) => {
      refusals += 1;
      return refusals === 1 ? route.fulfill({ status: 503, body: 'being replaced' }) : route.continue();
    });
    await scene.goTo(page, `/vault/${scene.vault.id}`);
    const rows = page.getByRole('region', { name: 'History' });
    await rows.getByRole('listitem').first().waitFor();
    await expect.poll(() => refusals, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
    // This change is made while the stream is closed.
    const missed = await scene.transferOf('missed');
    await rows.locator(`a[href="#/transaction/${missed}"]`).waitFor();
    const received = await scene.transferOf('heard');
    await rows.locator(`a[href="#/transaction/${received}"]`).waitFor();
    expect(refusals).toBe(2);
  });

  /** The issuer may still have its own session for this browser, and require no password. */
  async function loggedIn(page: Page, name: string): Promise<void> {
    const field = page.locator('input[name="login"]');
    await Promise.race([field.waitFor(), page.getByRole('navigation').waitFor()]);
    if ((await field.count()) === 0) return;
    await field.fill(name);
    await page.locator('input[name="password"]').fill('any');
    await page.locator('button[type="submit"]').click();
    await page.locator('button[type="submit"]').click();
  }

  test('a browser notifies its owner of pending decisions, with and without an open page, until the owner turns this off', async () => {
    const { page, complaints } = await scene.pageOf('bob');
    const context = page.context();
    await context.grantPermissions(['notifications'], { origin: scene.url });
    // The real push service is not reachable here. This replacement accepts and returns the same
    // messages.
    await page.addInitScript(() => {
      PushManager.prototype.subscribe = async function subscribe(options?: PushSubscriptionOptionsInit) {
        const { userVisibleOnly, applicationServerKey: key } = options ?? {};
        const isKey = typeof key === 'string' && /^B[A-Za-z0-9_-]{86}$/.test(key);
        if (userVisibleOnly !== true || !isKey) throw new TypeError('refused');
        const { active } = await navigator.serviceWorker.ready;
        if (active === null) throw new DOMException('no worker', 'AbortError');
        const keys = {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        };
        const endpoint = 'https://fcm.googleapis.com/fcm/send/of-this-browser';
        return { toJSON: () => ({ endpoint, expirationTime: null, keys }) } as unknown as PushSubscription;
      };
    });
    await page.reload();
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByText('Notifications are off.').waitFor();
    const session = await context.newCDPSession(page);
    // A browser drops a push message for a service worker that is not activated yet.
    const activated = new Promise<string>((resolve) => {
      session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
        for (const { registrationId, status } of versions) if (status === 'activated') resolve(registrationId);
      });
    });
    await session.send('ServiceWorker.enable');
    // Reads Chromium's own record of displayed notifications: `getNotifications` returned none in
    // trials.
    const shown: object[] = [];
    session.on('BackgroundService.backgroundServiceEventReceived', ({ backgroundServiceEvent: event }) => {
      if (event.eventName !== 'Notification displayed') return;
      const { Title: title, Body: body } = Object.fromEntries(
        event.eventMetadata.map(({ key, value }) => [key, value]),
      );
      shown.push({ title, body, tag: event.instanceId });
    });
    await session.send('BackgroundService.setRecording', { shouldRecord: true, service: 'notifications' });
    await session.send('BackgroundService.startObserving', { service: 'notifications' });
    await page.getByRole('button', { name: 'Enable notifications' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'fcm.googleapis.com' });
    await row.waitFor();
    const data = JSON.stringify({
      title: 'treasury',
      body: 'Approval wanted: <b>0.001 ETH</b>',
      transactionId: 'tx-1',
    });
    await session.send('ServiceWorker.deliverPushMessage', {
      origin: scene.url,
      registrationId: await activated,
      data,
    });
    await expect
      .poll(() => shown, { timeout: PATIENCE_MS })
      .toEqual([{ title: 'treasury', body: 'Approval wanted: <b>0.001 ETH</b>', tag: 'tx-1' }]);
    await row.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Notifications are off.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('a user who refuses notifications gets none, and the page shows that', async () => {
    const { page } = await scene.pageOf('carol', { permissions: [] });
    await page.addInitScript(() => {
      Notification.requestPermission = async () => 'denied';
    });
    await page.reload();
    await page.getByRole('link', { name: 'Notifications' }).click();
    await page.getByRole('button', { name: 'Enable notifications' }).click();
    await page.getByRole('alert').filter({ hasText: 'not allowed in this browser' }).waitFor();
    await page.getByText('Notifications are off.').waitFor();
  });
});
