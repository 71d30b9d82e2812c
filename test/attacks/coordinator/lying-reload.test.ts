/**
 * Attack: a dashboard shows an honest payment on the approval page, waits until the person has read
 *   it, loads the page anew and sends a theft whose button is at the same position.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N8
 * Defence: the page remembers in the storage of its own window which request has no answer. After a
 *   new load with another request, its button needs a tick for this other request.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesToHex } from '@noble/hashes/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signatureFault } from '#devices/device-signature.ts';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { ApprovalAnswer, ApprovalRequest, EnrolmentRequest } from '#domain/access/approval-page-message.ts';
import { nonceOfPageReady, parseApprovalAnswer } from '#domain/access/approval-page-message.ts';
import { parseRedirectResult, requestUrl, resultTargetUrl } from '#domain/access/approval-redirect.ts';
import type { Device } from '#domain/access/device.ts';
import { parseDeviceKeyId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import {
  ALICE,
  BOB,
  deviceOf,
  hashOf,
  PINS,
  policyOf,
  rejectionOf,
  requestOf,
  scriptOf,
  statementsOf,
  THIEF,
  transferOf,
} from '../../approval-page/request-scene.ts';
import type { VirtualCredential } from '../../browser/authenticator.ts';
import { withAuthenticator } from '../../browser/authenticator.ts';
import { chromiumHere, launch } from '../../browser/chromium.ts';
import { readAndClick, readDetails } from '../../browser/read-and-click.ts';

const executable = chromiumHere();
const ID = 'request-1';

/** Keeps the last message of the approval page. Each window is a new one. */
const LYING_DASHBOARD = `<!doctype html><title>Dashboard</title><script>
addEventListener('message', (event) => { window.received = event.data; });
window.openPage = (url) => { window.page = open(url, '_blank', 'popup'); };
window.load = (url) => { window.received = undefined; window.page.location.href = url; };
</script>`;

interface Lying {
  readonly received?: { readonly nonce?: string };
  readonly page: Window;
  openPage(url: string): void;
  load(url: string): void;
}

type Request = (nonce: string) => ApprovalRequest | EnrolmentRequest;

describe.skipIf(executable === null)('a dashboard that loads the approval page anew', () => {
  let browser: Browser;
  let path: ApprovalPageServer;
  let coordinator: Server;
  let dashboard: string;
  let alice: BrowserContext;
  let lying: Page;
  let page: Page;
  let passkeys: readonly VirtualCredential[] = [];
  let passkey: Device;
  let policy: Policy;

  beforeAll(async () => {
    coordinator = createServer((request, answer) => {
      // A page with this header would lose the reference of the window that opened it.
      const policies = request.url === '/' ? { 'Cross-Origin-Opener-Policy': 'same-origin-allow-popups' } : {};
      const headers = { 'Content-Type': 'text/html', ...policies };
      answer.writeHead(200, headers).end(LYING_DASHBOARD);
    });
    await new Promise<void>((listening) => coordinator.listen(0, '127.0.0.1', listening));
    dashboard = `http://127.0.0.1:${(coordinator.address() as AddressInfo).port}`;
    path = await serveApprovalPage(() => [dashboard]);
    browser = await launch(executable ?? '');
    passkey = await enrolled();
    policy = policyOf({ devices: [passkey, scriptOf(BOB, 'laptop of bob')] });
  });
  afterAll(async () => {
    await browser.close();
    await path.stop();
    coordinator.close();
  });
  beforeEach(openDashboard);
  afterEach(() => alice.close());

  /** Opens the dashboard on an upright monitor, where a whole request is in view at once. */
  async function openDashboard(): Promise<void> {
    alice = await browser.newContext({ viewport: { width: 700, height: 1600 } });
    lying = await alice.newPage();
    await lying.goto(`${dashboard}/`);
  }

  const addressOf = (query = '') => `${path.origin}/${query}#dashboard=${encodeURIComponent(dashboard)}`;

  /** Opens the approval page with a request in a window of its own. */
  async function open(request: Request): Promise<void> {
    const popup = alice.waitForEvent('page');
    await lying.evaluate((url) => (window as unknown as Lying).openPage(url), addressOf());
    page = await popup;
    await withAuthenticator(page, passkeys);
    await send(request);
  }

  let loads = 0;

  /** Loads the approval page anew in the same window, with another request. */
  async function replaceBy(request: Request): Promise<void> {
    loads += 1;
    await lying.evaluate((url) => (window as unknown as Lying).load(url), addressOf(`?${loads}`));
    await send(request);
  }

  async function send(request: Request): Promise<void> {
    const handle = await lying.waitForFunction(() => (window as unknown as Lying).received?.nonce);
    const message = request(String(await handle.jsonValue()));
    await lying.evaluate((sent) => (window as unknown as Lying).page.postMessage(sent, '*'), message);
  }

  /** Loads the approval page in the tab itself, as on a phone. */
  async function redirect(tab: Page, request: Request): Promise<void> {
    await tab.goto(`${dashboard}/`);
    const go = (address: string | null) => tab.evaluate((to) => location.assign(to), address ?? '');
    await go(requestUrl(path.origin, { dashboard, requestId: ID }));
    const nonce = nonceOfPageReady(await broughtTo(tab));
    if (nonce === null) throw new Error('the page named no nonce');
    await go(resultTargetUrl(path.origin, { dashboard, request: request(nonce) }));
  }

  async function broughtTo(tab: Page): Promise<unknown> {
    await tab.waitForURL(`${dashboard}/#/approval/**`);
    return parseRedirectResult(new URL(tab.url()).hash)?.message;
  }

  const enrolment: Request = () => {
    const frame = { type: 'conclave/approval/enrolment', version: 1, requestId: ID } as const;
    return { ...frame, userId: ALICE, userName: 'alice', credentialIds: [] };
  };

  async function enrolled(): Promise<Device> {
    await openDashboard();
    const tab = await alice.newPage();
    const kept = await withAuthenticator(tab);
    await redirect(tab, enrolment);
    await readAndClick(tab.getByRole('button', { name: 'Create a passkey' }));
    await tab.getByText('Passkey created').waitFor();
    passkeys = await kept();
    await tab.getByRole('button', { name: 'Send to the dashboard' }).click();
    const answer = parseApprovalAnswer(await broughtTo(tab), ID);
    await alice.close();
    if (answer?.type !== 'conclave/approval/enrolled') throw new Error('no passkey was made');
    return deviceOf(answer.device);
  }

  const honest = () => transferOf(policy, { createdAtMs: Date.now(), expiresAtMs: Date.now() + 3_600_000 });
  const paying =
    (intent: ReturnType<typeof honest>): Request =>
    (nonce) =>
      requestOf(policy, intent, { statements: statementsOf(policy, { nonce, issuedAtMs: Date.now() }) });

  async function confirmPins(shown: Page): Promise<void> {
    await shown.getByLabel('Fingerprint of the co-signers').fill(fingerprintOf(PINS));
    await shown.getByLabel('Co-signers that sign together').selectOption('2');
    await shown.getByRole('button', { name: 'Confirm' }).click();
  }

  const approve = (shown = page) => shown.getByRole('button', { name: 'Approve with a passkey' });

  const active = () => page.getByRole('button', { name: 'Approve with a passkey', disabled: false });

  async function centreOf(button: Locator) {
    const { x, y, width, height } = (await button.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return { x: x + width / 2, y: y + height / 2 };
  }

  async function faultOf(message: unknown, intent: ReturnType<typeof honest>) {
    const { keyId, ...answer } = message as ApprovalAnswer;
    const known = parseDeviceKeyId(keyId);
    if (known === null) throw new Error('there is no answer');
    const { signature, authenticatorData, clientDataJSON: clientDataJson } = answer;
    const digest = bytesToHex(sha256(intentBytes(intent)));
    return signatureFault(passkey, digest, {
      keyId: known,
      signature,
      assertion: { authenticatorData, clientDataJson },
    });
  }

  const NOTE = 'This window was loaded anew. This is another request than the one before';
  const notes = (shown = page) => shown.getByText(NOTE);
  const tick = (shown = page) => shown.getByLabel('I have read this other request');

  /** Ticks the box, waits until the button is active, and takes the tick back. */
  async function tickAndUntick(): Promise<void> {
    await readDetails(approve());
    expect(await approve().isDisabled()).toBe(true);
    await tick().check();
    await active().waitFor();
    await tick().uncheck();
    expect(await approve().isDisabled()).toBe(true);
  }

  /** Opens an honest payment and returns it with the position of its active button. */
  async function readHonestly() {
    const intent = honest();
    await open(paying(intent));
    await confirmPins(page);
    await active().waitFor();
    return { intent, position: await centreOf(approve()) };
  }

  async function answered(): Promise<unknown> {
    const handle = await lying.waitForFunction(() => {
      const { received } = window as unknown as Lying;
      return received !== undefined && received.nonce === undefined ? received : undefined;
    });
    return handle.jsonValue();
  }

  const isUnanswered = () => lying.evaluate(() => (window as unknown as Lying).received?.nonce !== undefined);

  test('a click at the position of the honest button signs no theft that was loaded in its stead', async () => {
    const { intent, position } = await readHonestly();
    const theft = { ...intent, to: THIEF };
    await replaceBy(paying(theft));
    await tick().waitFor();
    await page.mouse.click(position.x, position.y);
    // A second load of the theft is the same request as the load before, and is still another one
    // than the person has read.
    await replaceBy(paying(theft));
    await tick().waitFor();
    expect(await notes().count()).toBe(2);
    await page.mouse.click(position.x, position.y);
    expect(await tick().isChecked()).toBe(false);
    await tickAndUntick();
    const { x, y } = await centreOf(approve());
    await page.mouse.click(x, y);
    await tick().check();
    expect(await isUnanswered()).toBe(true);
    await approve().click();
    expect(await faultOf(await answered(), theft)).toBe(null);
  });

  test('the same request after a new load needs no tick, and the one that was read stays known', async () => {
    const { intent } = await readHonestly();
    await replaceBy(paying(intent));
    await active().waitFor();
    expect(await notes().count()).toBe(0);
    const other = { ...intent, to: THIEF };
    await replaceBy(paying(other));
    await tickAndUntick();
    await replaceBy(paying(other));
    await active().waitFor();
    await replaceBy(paying(intent));
    await tick().waitFor();
  });

  test('a page of another site between two loads does not hide that the request was replaced', async () => {
    const { intent } = await readHonestly();
    await lying.evaluate((url) => (window as unknown as Lying).load(url), `${dashboard}/between`);
    await page.waitForURL(`${dashboard}/between`);
    await replaceBy(paying({ ...intent, to: THIEF }));
    await tick().waitFor();
  });

  test('an enrolment, a rejection and a payment that replace each other need a tick', async () => {
    const next = policyOf({ ...policy, version: 2, threshold: 1, previousHash: hashOf(policy) });
    const rejection: Request = () => rejectionOf(policy, next);
    await readHonestly();
    for (const [request, name] of [
      [enrolment, 'Create a passkey'],
      [rejection, 'Reject with a passkey'],
    ] as const) {
      await replaceBy(request);
      const button = page.getByRole('button', { name });
      await tick().waitFor();
      expect(await notes().count()).toBe(2);
      await readDetails(button);
      expect(await button.isDisabled()).toBe(true);
      await tick().check();
      await page.getByRole('button', { name, disabled: false }).waitFor();
    }
    await replaceBy(paying(honest()));
    await tick().waitFor();
  });

  test('a new passkey that the person compares is not replaced by a payment without a tick', async () => {
    await open(enrolment);
    await readAndClick(page.getByRole('button', { name: 'Create a passkey' }));
    await page.getByText('already has a passkey').or(page.getByText('Passkey created')).waitFor();
    await replaceBy(paying(honest()));
    await notes().waitFor();
  });

  test('by redirect the next request needs a tick, unless the person answered or left', async () => {
    const tab = await alice.newPage();
    await withAuthenticator(tab, passkeys);
    const first = honest();
    await redirect(tab, paying(first));
    await confirmPins(tab);
    await approve(tab).waitFor();
    const second = { ...first, to: THIEF };
    await redirect(tab, paying(second));
    await tick(tab).waitFor();
    expect(await notes(tab).count()).toBe(2);
    await tick(tab).check();
    await readAndClick(approve(tab));
    expect(await faultOf(await broughtTo(tab), second)).toBe(null);
    await redirect(tab, paying(first));
    await approve(tab).waitFor();
    expect(await notes(tab).count()).toBe(0);
    await tab.getByRole('button', { name: 'Back to the dashboard without signing' }).click();
    await broughtTo(tab);
    await redirect(tab, paying(second));
    await approve(tab).waitFor();
    expect(await notes(tab).count()).toBe(0);
  });

  test('the page stores a hash alone, and a page that the browser kept loads itself anew', async () => {
    await readHonestly();
    const stored = await page.evaluate(() => Object.entries(sessionStorage));
    expect(stored).toEqual([['conclave/unanswered/v1', expect.stringMatching(/^[0-9a-f]{64}$/)]]);
    await page.evaluate(() => void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await page
      .getByText('This page must be opened from a Conclave dashboard')
      .or(page.getByText('Waiting for'))
      .waitFor();
    expect(await approve().count()).toBe(0);
  });

  test('a browser that stores nothing for the page shows no request', async () => {
    await alice.addInitScript(() => {
      const refuse = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      Object.defineProperty(window, 'sessionStorage', { get: refuse });
    });
    const popup = alice.waitForEvent('page');
    await lying.evaluate((url) => (window as unknown as Lying).openPage(url), addressOf());
    page = await popup;
    await page.getByText('This browser stores no data for this page').waitFor();
    expect(await lying.evaluate(() => (window as unknown as Lying).received === undefined)).toBe(true);
    const tab = await alice.newPage();
    await tab.goto(requestUrl(path.origin, { dashboard, requestId: ID }));
    await tab.getByText('This browser stores no data for this page').waitFor();
  });
});
