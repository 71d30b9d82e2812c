/**
 * Attack: the coordinator serves a dashboard that opens the approval page by redirect, so that no
 *   window reference proves the origin of the request.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.5
 * Defence: the page signs only what it shows, accepts one request for each of its nonces, and
 *   answers only to allowed origins.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesToHex } from '@noble/hashes/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import { signatureFault } from '#devices/device-signature.ts';
import type { ApprovalRequest, EnrolmentRequest } from '#domain/access/approval-page-message.ts';
import { nonceOfPageReady, parseApprovalAnswer } from '#domain/access/approval-page-message.ts';
import { requestUrl, resultTargetUrl, parseRedirectResult } from '#domain/access/approval-redirect.ts';
import type { Device } from '#domain/access/device.ts';
import { parseDeviceKeyId } from '#domain/id.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { ApprovalPageServer } from '#local/stack/approval-page.ts';
import { serveApprovalPage } from '#local/stack/approval-page.ts';
import {
  ALICE,
  BOB,
  deviceOf,
  hashOf,
  PINS,
  policyOf,
  requestOf,
  scriptOf,
  statementsOf,
  SUPPLIER,
  THIEF,
  transferOf,
} from '../../approval-page/request-scene.ts';
import { withAuthenticator } from '../../browser/authenticator.ts';
import { readAndClick } from '../../browser/read-and-click.ts';
import { chromiumHere, launch } from '../../browser/chromium.ts';

const executable = chromiumHere();
const ID = 'request-1';

/**
 * Covers alice's phone and mallory's pages, which need no script because they redirect the browser.
 */
describe.skipIf(executable === null)('a dashboard that lies by redirect', () => {
  const servers: Server[] = [];
  let browser: Browser;
  let path: ApprovalPageServer;
  let dashboard: string;
  let second: string;
  let stranger: string;
  let alice: BrowserContext;
  let tab: Page;
  let passkey: Device;
  let policy: Policy;

  /** Starts a page that shows nothing, and whose address keeps the data that it is opened with. */
  async function startSite(): Promise<string> {
    const server = createServer((_request, answer) => {
      answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Dashboard</title>');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  beforeAll(async () => {
    [dashboard, second, stranger] = [await startSite(), await startSite(), await startSite()];
    path = await serveApprovalPage(() => [dashboard, second]);
    browser = await launch(executable ?? '');
    alice = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    tab = await alice.newPage();
    // The authenticator belongs to the tab, whichever pages the tab opens.
    await withAuthenticator(tab);
    passkey = await enrolled();
    policy = policyOf({ devices: [passkey, scriptOf(BOB, 'laptop of bob')] });
  });
  afterAll(async () => {
    await browser.close();
    await path.stop();
    for (const server of servers) server.close();
  });
  beforeEach(async () => {
    // Each test begins as in a new tab, which has shown no request.
    await tab.goto(path.origin);
    await tab.evaluate(() => sessionStorage.clear());
    await tab.goto(dashboard);
  });

  const go = (address: string | null) => tab.evaluate((to) => location.assign(to), address ?? '');

  /** Returns the message that the tab has brought to one of mallory's pages. */
  async function broughtTo(origin: string): Promise<unknown> {
    await tab.waitForURL(`${origin}/#/approval/**`);
    return parseRedirectResult(new URL(tab.url()).hash)?.message;
  }

  async function nonceOf(origin = dashboard): Promise<string> {
    await go(requestUrl(path.origin, { dashboard: origin, requestId: ID }));
    const nonce = nonceOfPageReady(await broughtTo(origin));
    if (nonce === null) throw new Error('the page named no nonce');
    return nonce;
  }

  const send = (request: ApprovalRequest | EnrolmentRequest, origin = dashboard) =>
    go(resultTargetUrl(path.origin, { dashboard: origin, request }));

  async function enrolled(): Promise<Device> {
    await tab.goto(dashboard);
    await nonceOf();
    const request = { type: 'conclave/approval/enrolment', version: 1, requestId: ID } as const;
    await send({ ...request, userId: ALICE, userName: 'alice', credentialIds: [] });
    await readAndClick(tab.getByRole('button', { name: 'Create a passkey' }));
    await tab.getByText('Passkey created').waitFor();
    await tab.getByRole('button', { name: 'Send to the dashboard' }).click();
    const answer = parseApprovalAnswer(await broughtTo(dashboard), ID);
    if (answer?.type !== 'conclave/approval/enrolled') throw new Error('no passkey was made');
    return deviceOf(answer.device);
  }

  const honest = () => transferOf(policy, { createdAtMs: Date.now(), expiresAtMs: Date.now() + 3_600_000 });
  const fresh = (nonce: string, inForce = policy) => statementsOf(inForce, { nonce, issuedAtMs: Date.now() });
  const approve = () => tab.getByRole('button', { name: 'Approve with a passkey' });

  /**
   * Opens the page with a request over the page's own nonce, and confirms the co-signer keys as
   * alice.
   */
  async function shown(requestFor: (nonce: string) => ApprovalRequest): Promise<void> {
    await send(requestFor(await nonceOf()));
    const request = tab.getByLabel('Fingerprint of the co-signers');
    await request
      .or(tab.getByRole('heading', { level: 1 }))
      .first()
      .waitFor();
    if (!(await request.isVisible())) return;
    await request.fill(fingerprintOf(PINS));
    await tab.getByLabel('Co-signers that sign together').selectOption('2');
    await tab.getByRole('button', { name: 'Confirm' }).click();
  }

  async function refuses(why: RegExp): Promise<void> {
    await tab.getByRole('heading', { name: 'Nothing to approve' }).waitFor();
    await tab.getByText(why).waitFor();
    expect(await approve().count()).toBe(0);
    expect(new URL(tab.url()).origin).toBe(path.origin);
  }

  const digestOf = (intent: Parameters<typeof intentBytes>[0]) => bytesToHex(sha256(intentBytes(intent)));

  /** Returns the fault of the answer that the dashboard got, as a signature over this digest. */
  async function faultOf(message: unknown, digest: string) {
    const answer = parseApprovalAnswer(message, ID);
    if (answer?.type !== 'conclave/approval/answer') throw new Error('there is no answer');
    const keyId = parseDeviceKeyId(answer.keyId);
    if (keyId === null) throw new Error('there is no key');
    const { signature, authenticatorData, clientDataJSON: clientDataJson } = answer;
    return signatureFault(passkey, digest, { keyId, signature, assertion: { authenticatorData, clientDataJson } });
  }

  test('a dashboard gets a signature only over the bytes that the page shows, with the thief as recipient', async () => {
    const theft = { ...honest(), to: THIEF };
    await shown((nonce) => requestOf(policy, theft, { statements: fresh(nonce) }));
    await tab.getByRole('heading', { name: 'Send 1.5 ETH' }).waitFor();
    const to = tab.locator('dl > div').filter({ has: tab.locator('dt', { hasText: /^To$/ }) });
    expect(await to.allTextContents()).toEqual(Array(2).fill(`ToNot in the address book${THIEF}`));
    expect(await tab.getByText(SUPPLIER).count()).toBe(0);
    // The request is in neither the address bar nor the history of the browser.
    expect(tab.url()).toBe(`${path.origin}/`);
    await readAndClick(approve());
    const message = await broughtTo(dashboard);
    expect(await faultOf(message, digestOf(theft))).toBe(null);
    expect(await faultOf(message, digestOf(honest()))).toBe('wrong-digest');
  });

  test('a policy that the dashboard invents, with the thief in its address book, is refused', async () => {
    const rules = { ...policy.rules, addressBook: [{ chain: 'eip155:31337', address: THIEF, name: 'Supplier' }] };
    const own = policyOf({ ...policy, rules });
    const theft = { ...honest(), to: THIEF, policyHash: hashOf(own) };
    await shown((nonce) => requestOf(own, theft, { statements: fresh(nonce) }));
    await refuses(/Too few co-signers confirm the policy/);
  });

  test('statements that are missing, outdated, or over a nonce of the dashboard are refused', async () => {
    const attempts: ((nonce: string) => ApprovalRequest['statements'])[] = [
      () => [],
      () => fresh('00'.repeat(32)),
      (nonce) => statementsOf(policy, { nonce, issuedAtMs: Date.now() - 6 * 60_000 }),
    ];
    for (const statements of attempts) {
      await shown((nonce) => requestOf(policy, honest(), { statements: statements(nonce) }));
      await refuses(/Too few co-signers/);
      await tab.goto(dashboard);
    }
  });

  test('a request that the page did not start, and a repeated request, are refused', async () => {
    await send(requestOf(policy, honest(), { statements: fresh('00'.repeat(32)) }));
    await refuses(/does not expect this request/);
    await tab.goto(dashboard);
    const nonce = await nonceOf();
    const request = requestOf(policy, honest(), { statements: fresh(nonce) });
    await send(request);
    await approve().waitFor();
    await tab.goto(dashboard);
    await send({ ...request, canonical: bytesToHex(intentBytes({ ...honest(), to: THIEF })) });
    await refuses(/does not expect this request/);
  });

  test('a dashboard cannot replace the request after the person has read it', async () => {
    const read = honest();
    let nonce = '';
    await shown((chosen) => {
      nonce = chosen;
      return requestOf(policy, read, { statements: fresh(chosen) });
    });
    await tab.getByText('“Supplier” in the address book').first().waitFor();
    // A window with a reference to the page's window can change its fragment without a new load of
    // the page.
    await send(requestOf(policy, { ...read, to: THIEF }, { statements: fresh(nonce) }));
    await tab.evaluate(() => new Promise((painted) => requestAnimationFrame(painted)));
    expect(await tab.getByText('“Supplier” in the address book').count()).toBe(2);
    await readAndClick(approve());
    expect(await faultOf(await broughtTo(dashboard), digestOf(read))).toBe(null);
  });

  test('a dashboard that is not on the list gets no nonce, whatever return address it names', async () => {
    const names = [
      stranger,
      `${dashboard}@${new URL(stranger).host}`,
      `${dashboard}/..//${new URL(stranger).host}`,
      'javascript:alert(1)//',
      `${stranger}/#${dashboard}`,
    ];
    for (const name of names) {
      await tab.goto(stranger);
      await go(requestUrl(path.origin, { dashboard: name, requestId: ID }));
      await refuses(/does not allow the dashboard/);
    }
  });

  test('a dashboard that claims another address makes the page send nonce and answer to that address', async () => {
    await tab.goto(stranger);
    const nonce = await nonceOf(dashboard);
    await tab.goto(stranger);
    await send(requestOf(policy, honest(), { statements: fresh(nonce) }), second);
    await refuses(/does not expect this request/);
    await tab.goto(stranger);
    await shown((own) => requestOf(policy, honest(), { statements: fresh(own) }));
    await tab.getByText(`answering to ${dashboard}`).waitFor();
    await tab.getByRole('button', { name: 'Back to the dashboard without signing' }).click();
    expect(await broughtTo(dashboard)).toEqual({ type: 'conclave/approval/declined', version: 1, requestId: ID });
  });

  test('a reload of the approval page leaves nothing to approve', async () => {
    await shown((nonce) => requestOf(policy, honest(), { statements: fresh(nonce) }));
    await approve().waitFor();
    await tab.reload();
    await refuses(/This page must be opened from a Conclave dashboard/);
  });
});
