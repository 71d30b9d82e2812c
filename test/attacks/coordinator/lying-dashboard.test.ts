/**
 * Attack: a coordinator serves a dashboard that shows one payment and requests the passkey for
 *   another.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.5, F2, F5, F14
 * Defence: passkeys belong to an approval page of another origin, which reads, hashes and shows the
 *   bytes that the passkey signs.
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
import type { ApprovalAnswer, ApprovalRequest, EnrolmentAnswer } from '#domain/access/approval-page-message.ts';
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
  statementOf,
  statementsOf,
  SUPPLIER,
  THIEF,
  transferOf,
} from '../../approval-page/request-scene.ts';
import type { VirtualCredential } from '../../browser/authenticator.ts';
import { withAuthenticator } from '../../browser/authenticator.ts';
import { readAndClick } from '../../browser/read-and-click.ts';
import { chromiumHere, launch } from '../../browser/chromium.ts';

const executable = chromiumHere();

/**
 * The script that mallory serves instead of the dashboard's script. It answers every page that
 * sends a greeting. Each window has no name, so it is new each time: a name could still find the
 * last window while that window closes.
 */
const LYING_DASHBOARD = `<!doctype html><title>Dashboard</title><h1>Pay 1.5 ETH to Supplier</h1><script>
window.received = [];
addEventListener('message', (event) => window.received.push(event.data));
window.openPage = (url, height) => {
  window.received = [];
  window.page = open(url, '_blank', 'popup,width=500,height=' + height);
};
</script>`;

interface Lying {
  readonly received: { readonly nonce?: string }[];
  readonly page: Window;
  openPage(url: string, height: number): void;
}

describe.skipIf(executable === null)('a lying dashboard', () => {
  let browser: Browser;
  let path: ApprovalPageServer;
  let coordinator: Server;
  let dashboard: string;
  let alice: BrowserContext;
  let passkey: Device;
  let policy: Policy;
  let lying: Page;

  beforeAll(async () => {
    coordinator = createServer((_request, answer) => {
      const headers = { 'Content-Type': 'text/html', 'Cross-Origin-Opener-Policy': 'same-origin-allow-popups' };
      answer.writeHead(200, headers).end(LYING_DASHBOARD);
    });
    await new Promise<void>((listening) => coordinator.listen(0, '127.0.0.1', listening));
    // The dashboard has another host than the approval page, as in a deployment, because passkeys
    // do not distinguish ports.
    dashboard = `http://127.0.0.1:${(coordinator.address() as AddressInfo).port}`;
    path = await serveApprovalPage(() => [dashboard]);
    browser = await launch(executable ?? '');
    alice = await browser.newContext();
    passkey = await enrolled();
    policy = policyOf({ devices: [passkey, scriptOf(BOB, 'laptop of bob')] });
  });
  afterAll(async () => {
    await browser.close();
    await path.stop();
    coordinator.close();
  });
  beforeEach(async () => {
    for (const page of alice.pages()) await page.close();
    lying = await dashboardPage();
  });

  async function dashboardPage(origin = dashboard): Promise<Page> {
    const page = await alice.newPage();
    await page.goto(`${origin}/`);
    return page;
  }

  /** Returns the approval page that the dashboard has opened, with alice's authenticator. */
  async function opened(address = `${path.origin}/#dashboard=${encodeURIComponent(dashboard)}`, height = 800) {
    const popup = alice.waitForEvent('page');
    const size = { address, height };
    await lying.evaluate((page) => (window as unknown as Lying).openPage(page.address, page.height), size);
    return popup;
  }

  async function nonceOf(): Promise<string> {
    const handle = await lying.waitForFunction(() => (window as unknown as Lying).received[0]?.nonce);
    return String(await handle.jsonValue());
  }

  const send = (message: unknown) =>
    lying.evaluate((sent) => (window as unknown as Lying).page.postMessage(sent, '*'), message);

  /** Returns the messages that the dashboard has received after the greeting. */
  const got = () => lying.evaluate(() => (window as unknown as Lying).received.slice(1));

  let passkeys: readonly VirtualCredential[] = [];

  /** Requests a new passkey, and accepts it as alice. */
  async function createPasskey(page: Page, credentialIds: readonly string[] = []): Promise<void> {
    const request = { type: 'conclave/approval/enrolment', version: 1, requestId: 'e', userId: ALICE } as const;
    await send({ ...request, userName: 'alice', credentialIds });
    await readAndClick(page.getByRole('button', { name: 'Create a passkey' }));
    await page.getByText('Passkey created').or(page.getByText('already has a passkey')).waitFor();
  }

  /** Creates alice's passkey on the approval page. */
  async function enrolled(): Promise<Device> {
    lying = await dashboardPage();
    const page = await opened();
    const kept = await withAuthenticator(page);
    await nonceOf();
    await createPasskey(page);
    passkeys = await kept();
    const [answer] = (await got()) as EnrolmentAnswer[];
    if (answer === undefined) throw new Error('no passkey was made');
    return deviceOf(answer.device);
  }

  /**
   * Returns the approval page with a request, after alice has confirmed the keys of the co-signers.
   */
  async function shown(requestFor: (nonce: string) => ApprovalRequest): Promise<Page> {
    const page = await opened();
    await withAuthenticator(page, passkeys);
    await send(requestFor(await nonceOf()));
    await confirmPins(page);
    return page;
  }

  async function confirmPins(page: Page): Promise<void> {
    const request = page.getByLabel('Fingerprint of the co-signers');
    const shownPage = request.or(page.getByRole('heading', { level: 1 }));
    await shownPage.first().waitFor();
    if (!(await request.isVisible())) return;
    await request.fill(fingerprintOf(PINS));
    await page.getByLabel('Co-signers that sign together').selectOption('2');
    await page.getByRole('button', { name: 'Confirm' }).click();
  }

  const honest = () => transferOf(policy, { createdAtMs: Date.now(), expiresAtMs: Date.now() + 3_600_000 });
  const fresh = (nonce: string, inForce = policy) => statementsOf(inForce, { nonce, issuedAtMs: Date.now() });
  const approve = (page: Page) => page.getByRole('button', { name: 'Approve with a passkey' });

  async function signed(page: Page): Promise<void> {
    const closed = page.waitForEvent('close');
    await readAndClick(approve(page));
    await closed;
  }

  async function refuses(page: Page, why: RegExp): Promise<void> {
    await page.getByRole('heading', { name: 'Nothing to approve' }).waitFor();
    await page.getByText(why).waitFor();
    expect(await approve(page).count()).toBe(0);
    expect(await got()).toEqual([]);
  }

  test('a lying dashboard gets a signature only over the bytes that the page shows, with the thief as recipient', async () => {
    const theft = { ...honest(), to: THIEF };
    const page = await shown((nonce) => requestOf(policy, theft, { statements: fresh(nonce) }));
    await page.getByRole('heading', { name: 'Send 1.5 ETH' }).waitFor();
    const to = page.locator('dl > div').filter({ has: page.locator('dt', { hasText: /^To$/ }) });
    // The recipient stands among the facts, and again beside the button.
    expect(await to.allTextContents()).toEqual(Array(2).fill(`ToNot in the address book${THIEF}`));
    expect(await page.getByText(SUPPLIER).count()).toBe(0);
    await signed(page);
    const [answer] = (await got()) as ApprovalAnswer[];
    expect(await faultOf(answer, digestOf(theft))).toBe(null);
    expect(await faultOf(answer, digestOf(honest()))).toBe('wrong-digest');
  });

  const digestOf = (intent: Parameters<typeof intentBytes>[0]) => bytesToHex(sha256(intentBytes(intent)));

  function faultOf(answer: ApprovalAnswer | undefined, digest: string) {
    const keyId = parseDeviceKeyId(answer?.keyId ?? '');
    if (answer === undefined || keyId === null) throw new Error('there is no answer');
    const { signature, authenticatorData, clientDataJSON: clientDataJson } = answer;
    return signatureFault(passkey, digest, { keyId, signature, assertion: { authenticatorData, clientDataJson } });
  }

  test('a dashboard gets no signature before the person has named a co-signer that states another policy', async () => {
    const page = await shown((nonce) => {
      const said = { nonce, issuedAtMs: Date.now(), policyVersion: 2, policyHash: '22'.repeat(32) };
      return requestOf(policy, honest(), { statements: [...fresh(nonce).slice(0, 2), statementOf(3, said)] });
    });
    const box = page.getByLabel('Approve although co-signer 3 has a different policy in force');
    await box.waitFor();
    // The button is enabled only after a moment. The test ticks the box first, to know that this
    // moment has passed.
    await box.check();
    await approve(page).scrollIntoViewIfNeeded();
    await approve(page).click({ trial: true });
    await box.uncheck();
    expect(await approve(page).isDisabled()).toBe(true);
    await box.check();
    await signed(page);
    expect(await got()).toHaveLength(1);
  });

  test('a dashboard cannot replace the request after the person has read it', async () => {
    const read = honest();
    const page = await shown((nonce) => requestOf(policy, read, { statements: fresh(nonce) }));
    await page.getByText('“Supplier” in the address book').first().waitFor();
    const nonce = await nonceOf();
    await send(requestOf(policy, { ...read, to: THIEF }, { statements: fresh(nonce) }));
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(painted)));
    expect(await page.getByText('“Supplier” in the address book').count()).toBe(2);
    await signed(page);
    const [answer] = (await got()) as ApprovalAnswer[];
    expect(await faultOf(answer, digestOf(read))).toBe(null);
  });

  test('a policy that the dashboard invents, with the thief in its address book, is refused', async () => {
    const rules = { ...policy.rules, addressBook: [{ chain: 'eip155:31337', address: THIEF, name: 'Supplier' }] };
    const own = policyOf({ ...policy, rules });
    const theft = { ...honest(), to: THIEF, policyHash: hashOf(own) };
    const page = await shown((nonce) => requestOf(own, theft, { statements: fresh(nonce) }));
    await refuses(page, /Too few co-signers confirm the policy/);
    await page.close();
    const bound = { ...honest(), to: THIEF };
    await refuses(
      await shown((nonce) => requestOf(own, bound, { statements: fresh(nonce) })),
      /does not name the policy in force/,
    );
  });

  test('statements that are missing, outdated, or signed with other keys are refused', async () => {
    const attempts: ((nonce: string) => ApprovalRequest['statements'])[] = [
      () => [],
      (nonce) => fresh(nonce).slice(0, 1),
      () => fresh('00'.repeat(32)),
      (nonce) => statementsOf(policy, { nonce, issuedAtMs: Date.now() - 6 * 60_000 }),
      (nonce) => {
        const said = { nonce, issuedAtMs: Date.now(), policyVersion: 1, policyHash: hashOf(policy) };
        return [1, 2, 3].map((cosigner) => statementOf(cosigner, said, 'mallory'));
      },
    ];
    for (const statements of attempts) {
      const page = await shown((nonce) => requestOf(policy, honest(), { statements: statements(nonce) }));
      await refuses(page, /Too few co-signers/);
      await page.close();
    }
  });

  test('co-signer keys without the fingerprint that the person types are refused', async () => {
    const stranger = policyOf({ ...policy, cosigners: PINS.toReversed().map((pin, i) => ({ ...pin, index: i + 1 })) });
    const elsewhere = await browser.newContext();
    const [before, beforeLying] = [alice, lying];
    alice = elsewhere;
    lying = await dashboardPage();
    const page = await shown((nonce) =>
      requestOf(stranger, { ...honest(), policyHash: hashOf(stranger) }, { statements: fresh(nonce, stranger) }),
    );
    await page.getByText('fingerprint does not match').waitFor();
    expect(await approve(page).count()).toBe(0);
    await elsewhere.close();
    [alice, lying] = [before, beforeLying];
  });

  test('bytes that the approval page cannot read completely are refused', async () => {
    const canonical = `${bytesToHex(intentBytes(honest()))}00`;
    await refuses(
      await shown((nonce) => requestOf(policy, honest(), { canonical, statements: fresh(nonce) })),
      /malformed/,
    );
  });

  test('a dashboard of another origin gets no answer, whatever origin it claims', async () => {
    const thief = createServer((_request, answer) => {
      answer.writeHead(200, { 'Content-Type': 'text/html' }).end(LYING_DASHBOARD);
    });
    await new Promise<void>((listening) => thief.listen(0, '127.0.0.1', listening));
    const origin = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
    lying = await dashboardPage(origin);
    const honestly = await opened(`${path.origin}/#dashboard=${encodeURIComponent(origin)}`);
    await honestly.getByText('does not allow the dashboard').waitFor();
    await honestly.close();
    const falsely = await opened();
    await falsely.getByText('Waiting for the dashboard').waitFor();
    await send(requestOf(policy, honest(), { statements: fresh('00'.repeat(32)) }));
    await falsely.evaluate(() => new Promise((painted) => requestAnimationFrame(painted)));
    expect(await approve(falsely).count()).toBe(0);
    expect(await lying.evaluate(() => (window as unknown as Lying).received)).toEqual([]);
    thief.close();
  });

  test('a dashboard cannot load the approval page in a frame', async () => {
    const refused = lying.waitForEvent('console', (message) => message.text().includes('frame'));
    await lying.evaluate(
      (src) => {
        const frame = document.createElement('iframe');
        frame.src = src;
        document.body.append(frame);
      },
      `${path.origin}/#dashboard=${encodeURIComponent(dashboard)}`,
    );
    expect((await refused).text()).toMatch(/frame-ancestors|X-Frame-Options/);
  });

  test('a dashboard cannot let alice sign in a window that is too low to show the recipient', async () => {
    const [before, beforeLying] = [alice, lying];
    // Without an emulated viewport a window has the size that its opener gives it.
    alice = await browser.newContext({ viewport: null });
    lying = await dashboardPage();
    const page = await opened(undefined, 300);
    await withAuthenticator(page, passkeys);
    await send(requestOf(policy, { ...honest(), to: THIEF }, { statements: fresh(await nonceOf()) }));
    await confirmPins(page);
    await page.getByText('Make this window larger').waitFor();
    expect(await approve(page).isDisabled()).toBe(true);
    expect(await got()).toEqual([]);
    await alice.close();
    [alice, lying] = [before, beforeLying];
  });

  test('a click signs only after recipient and amount beside the button have been in view', async () => {
    const page = await opened();
    await withAuthenticator(page, passkeys);
    await page.clock.install();
    await send(requestOf(policy, honest(), { statements: fresh(await nonceOf()) }));
    await confirmPins(page);
    await approve(page).waitFor();
    await page.clock.runFor(5_000);
    expect(await approve(page).isDisabled()).toBe(true);
    await approve(page).scrollIntoViewIfNeeded();
    const isActive = async () => {
      await page.clock.runFor(500);
      return approve(page).isEnabled();
    };
    await expect.poll(isActive).toBe(true);
    const block = page.getByRole('region', { name: 'What you sign' });
    for (const text of ['Send 1.5 ETH', SUPPLIER, 'Maximum fee']) expect(await block.textContent()).toContain(text);
    // The opener may set a fragment. It scrolls to nothing, and does not stay.
    const address = `${path.origin}/#dashboard=${encodeURIComponent(dashboard)}&page`;
    await lying.evaluate((url) => void ((window as unknown as Lying).page.location.href = url), address);
    await page.waitForFunction(() => location.hash === '' && scrollY === 0, undefined, { polling: 50 });
    expect(await page.locator('[id]').count()).toBe(0);
  });

  test('a dashboard cannot replace the passkey in force by a second enrolment', async () => {
    const page = await opened();
    const kept = await withAuthenticator(page, passkeys);
    await nonceOf();
    await createPasskey(page);
    const ids = (await kept()).map(({ credentialId }) => credentialId);
    expect(ids).toHaveLength(2);
    expect(ids).toContain(passkeys[0]?.credentialId);
    await page.close();
    const again = await opened();
    const keptAgain = await withAuthenticator(again, passkeys);
    await nonceOf();
    await createPasskey(again, passkey.algorithm === 'webauthn-p256' ? [passkey.credentialId] : []);
    await again.getByText('already has a passkey').waitFor();
    expect(await keptAgain()).toHaveLength(1);
  });

  test('a dashboard cannot use the passkey from its own origin', async () => {
    await withAuthenticator(lying, passkeys);
    const name = await lying.evaluate(
      ([rpId = '']) =>
        navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId } }).then(
          () => 'signed',
          (error: unknown) => (error instanceof DOMException ? error.name : String(error)),
        ),
      [new URL(path.origin).hostname],
    );
    expect(name).toBe('SecurityError');
  });
});
