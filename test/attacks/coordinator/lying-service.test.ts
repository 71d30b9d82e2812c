/**
 * Attack: the service shows one transaction on the dashboard and lets the person approve another.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F2
 * Defence: the dashboard reads the decision from the bytes and the policy that they name, compares
 *   each shown field, and stops without an offer to approve or to try again.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readPolicy } from '#devices/policy-document.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { BrowserWorld } from '../../browser/browser-world.ts';
import { startBrowserWorld } from '../../browser/browser-world.ts';
import { chromiumHere } from '../../browser/chromium.ts';

const executable = chromiumHere();

// oxlint-disable-next-line typescript/no-explicit-any -- the lies change deep fields
type Body = Record<string, any>;
type Lie = (body: Body) => Body;

const THIEF = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const inHex = (text: string) => Buffer.from(text, 'utf8').toString('hex');

/** Lies in the record of a transaction. */
const RECORD_LIES: Readonly<Record<string, Lie>> = {
  'the amount': (body) => ({ ...body, amount: '1000000000' }),
  'the recipient': (body) => ({ ...body, to: THIEF }),
  'the sender': (body) => ({ ...body, from: THIEF }),
  'the decimals of the asset': (body) => ({ ...body, asset: { ...body['asset'], decimals: 15 } }),
  'the symbol of the asset': (body) => ({ ...body, asset: { ...body['asset'], symbol: 'USDC' } }),
  'the token': (body) => ({
    ...body,
    asset: { ...body['asset'], tokenAddress: THIEF, trust: 'listed', symbol: 'USDC' },
  }),
  'the chain': (body) => ({ ...body, chain: 'sepolia' }),
  'a contact': (body) => ({ ...body, knownAs: [{ address: body['to'], name: 'Coinbase Prime (verified)' }] }),
  'the maximum fee': (body) => ({ ...body, maxFee: '1' }),
  'the coin of the fee': (body) => ({ ...body, feeAsset: { ...body['feeAsset'], decimals: 24 } }),
  'the note': (body) => ({ ...body, note: 'Approved by compliance' }),
  'the digest': (body) => ({ ...body, digest: '00'.repeat(32) }),
  'the expiry': (body) => ({ ...body, expiresAt: '2099-01-01T00:00:00.000Z' }),
  'the kind': (body) => ({ ...body, kind: 'message', message: 'Log in', amount: null, asset: null }),
};

/** Lies in what is approved. */
const CHALLENGE_LIES: Readonly<Record<string, Lie>> = {
  'other bytes': (body) => ({
    ...body,
    canonical: body['canonical'].replace(inHex('1000000000000000'), inHex('9000000000000000')),
  }),
  'bytes of no document': (body) => ({ ...body, canonical: 'ff00' }),
  'another policy': (body) => {
    const policy = readPolicy(Buffer.from(body['policy'].canonical, 'hex'));
    const book = [{ chain: 'eip155:31337', address: THIEF, name: 'Treasury' }];
    const canonical = Buffer.from(policyBytes({ ...policy, rules: { ...policy.rules, addressBook: book } })).toString(
      'hex',
    );
    return { ...body, policy: { ...body['policy'], canonical } };
  },
  'another key': (body) => ({ ...body, keys: [{ ...body['keys'][0], keyId: `key_${'0'.repeat(32)}` }] }),
  'no key': (body) => ({ ...body, keys: [] }),
};

describe.skipIf(executable === null)('a lying service', () => {
  let scene: BrowserWorld;
  let page: Page;
  let id: string;
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    id = await scene.transferOf('rent');
    ({ page } = await scene.keptPageOf('bob'));
  });
  afterAll(() => scene.end());

  async function lies(path: RegExp, lie: Lie, times = Number.POSITIVE_INFINITY): Promise<void> {
    let answers = 0;
    await page.route(path, async (route) => {
      const response = await route.fetch();
      answers += 1;
      await route.fulfill({ response, json: answers > times ? await response.json() : lie(await response.json()) });
    });
    await openFromNotifications();
  }

  /** The page of the transaction is a new one only when another page was open. */
  async function openFromNotifications(): Promise<void> {
    await scene.goTo(page, '/notifications');
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    await scene.goTo(page, `/transaction/${id}`);
  }

  afterEach(async () => {
    await page.unrouteAll({ behavior: 'wait' });
    // A new document: the dashboard remembers the lies of one test, and the record that it showed.
    await scene.goTo(page, '/notifications');
    await page.reload();
  });

  async function stops(): Promise<void> {
    await page.getByRole('heading', { name: 'Do not approve' }).waitFor();
    for (const name of ['Approve', 'Reject', 'Try again']) {
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    }
  }

  const RECORD = () => new RegExp(`/transaction/${id}$`);
  const CHALLENGE = () => new RegExp(`/transaction/${id}/challenge`);

  test('an honest service is not stopped', async () => {
    await scene.goTo(page, `/transaction/${id}`);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    expect(await page.getByRole('heading', { name: 'Do not approve' }).count()).toBe(0);
  });

  test.each(Object.entries(RECORD_LIES))('%s differs in the record', async (_name, lie) => {
    await lies(RECORD(), lie);
    await stops();
  });

  test.each(Object.entries(CHALLENGE_LIES))('%s are approved', async (_name, lie) => {
    await lies(CHALLENGE(), lie);
    await stops();
  });

  test('the bytes of another transaction are approved', async () => {
    const other = await scene.transferOf('another one');
    const answer = await scene.world.people().bob.client.request<Body>('GET', `/transaction/${other}/challenge`);
    await lies(CHALLENGE(), () => answer.body);
    await stops();
  });

  test('a message shows another text than is signed', async () => {
    const { alice } = scene.world.people();
    const body = { vaultId: scene.vault.id, chain: 'anvil', message: 'Transfer all to mallory' };
    const made = await alice.client.request<Body>('POST', '/transaction/message', { body });
    const before = id;
    id = String(made.body['id']);
    await lies(RECORD(), (record) => ({ ...record, message: 'Log in to the exchange' }));
    await stops();
    id = before;
  });

  test('the truth after a lie does not lift the stop', async () => {
    await lies(RECORD(), (body) => ({ ...body, note: 'Approved by compliance', stateDetail: 'part of the lie' }));
    await stops();
    await page.unrouteAll({ behavior: 'wait' });
    await openFromNotifications();
    await page.getByText('part of the lie').waitFor({ state: 'hidden' });
    await stops();
  });

  test('a lie in one answer alone leaves the page with the true record', async () => {
    await lies(RECORD(), (body) => ({ ...body, usdValue: '1.00', note: 'Approved by compliance' }), 1);
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await page.getByText('Note by alice: “rent”').first().waitFor();
    expect(await page.getByText('Approved by compliance').count()).toBe(0);
  });
});
