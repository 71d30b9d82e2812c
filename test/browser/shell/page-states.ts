import type { Page } from 'playwright-core';
import { getAddress } from 'viem';
import { unwrap } from '#cli/api-client.ts';
import { report } from '#local/stack/monitor.ts';
import { createReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import { finished } from '../../e2e/world.ts';
import type { BrowserWorld } from '../browser-world.ts';

/** The states in which each page is looked at: by a person in pictures, and by a test. */

/** A page in one state. */
export interface StatedPage {
  readonly state: 'empty' | 'full' | 'pending' | 'hostile' | 'error' | 'offline';
  readonly name: string;
  readonly person: string;
  readonly path: string;
}

/** As long as the service permits, without a space at which a line can break. */
const LONG_NAME = `<b>${'W'.repeat(96)}`;
const LONG_NOTE = `https://claim.example/${'x'.repeat(470)}`;
const RECORDS = 30;
const TOKENS = 20;

/** Creates what the pages show. Returns each page in each state that it has. */
export async function statedPages({
  world,
  vault,
}: Pick<BrowserWorld, 'world' | 'vault'>): Promise<readonly StatedPage[]> {
  const { alice, bob, carol } = world.people();
  const service = world.service();
  const treasury = `/vault/${vault.id}`;
  const to = await world.chain.account(7);
  const body = { vaultId: vault.id, chain: 'anvil', to, amount: '25000000000000000' };
  const paid = await world.approved({ ...body, note: 'Rent for November' });
  await finished(alice, paid);
  for (let i = 0; i < RECORDS; i++)
    await alice.client.transfer({ ...body, amount: String(i + 1), note: `Payment ${i}` });
  const pending = await alice.client.transfer({ ...body, amount: '1000000000000000', note: 'Coffee machine' });
  await receiveTokens(world, vault.address);
  const list = alice.client.api.vault[':vaultId'].transactions;
  const query = { visible: 'false' as const, limit: String(TOKENS) };
  const { transactions } = await unwrap(list.$get({ param: { vaultId: String(vault.id) }, query }));
  for (const { id } of transactions) {
    const line = alice.client.api.transaction[':txId'].visibility;
    await unwrap(line.$patch({ param: { txId: id }, json: { visible: true } }));
  }
  const change = alice.client.api.vault[':vaultId']['policy-change'];
  const json = { threshold: 3, note: 'Since the incident' };
  await unwrap(change.$post({ param: { vaultId: String(vault.id) }, json }));
  await unwrap(service.api.internal.user[':userId']['credential-reset'].$post({ param: { userId: carol.id } }));

  const signers = [alice, bob, carol];
  const hostile = await createReadyVault(service, { name: LONG_NAME, signers, threshold: 2 });
  await world.chain.fund(hostile.address, 10n ** 18n);
  const hostilePath = `/vault/${hostile.id}`;
  const payment = { vaultId: hostile.id, chain: 'anvil', amount: '123456789012345' };
  const known = await alice.client.transfer({ ...payment, to, note: LONG_NOTE });
  await world.approve(known.id);
  await finished(alice, known.id);
  const lower = to.toLowerCase();
  const similar = `${lower.slice(0, 8)}${'0'.repeat(lower.length - 14)}${lower.slice(-6)}`;
  const imitation = await alice.client.transfer({ ...payment, to: similar, note: LONG_NOTE, acceptLookalikeOf: to });
  const book = [{ chain: 'anvil', address: to, name: LONG_NAME }];
  const rules = { addressBook: book, note: LONG_NOTE };
  await unwrap(change.$post({ param: { vaultId: String(hostile.id) }, json: rules }));

  // A vault that alice has not accepted stands on the first page.
  const roles: 'signer'[] = ['signer'];
  const members = [alice, world.people().mallory].map(({ id }) => ({ userId: id, roles }));
  const terms = { threshold: 1, initialState: 'SUBMITTED', approvalMode: 'token' } as const;
  await unwrap(service.api.internal.vault.$post({ json: { name: LONG_NAME, members, ...terms, chains: ['anvil'] } }));
  const empty = await createReadyVault(service, { name: 'empty', signers, threshold: 2 });
  const ofVault = (path: string) => ({
    vault: path,
    transfer: `${path}/transfer`,
    receive: `${path}/receive`,
    policy: `${path}/policy`,
    members: `${path}/members`,
    rules: `${path}/rules`,
  });
  const settings = { tokens: '/tokens', notifications: '/notifications' };
  const all = { home: '/', ...ofVault(treasury), transaction: `/transaction/${pending.id}`, ...settings };
  const of = (state: StatedPage['state'], person: string, paths: Readonly<Record<string, string>>) =>
    Object.entries(paths).map(([name, path]): StatedPage => ({ state, name, person, path }));
  return [
    ...of('empty', 'mallory', { home: '/', ...settings }),
    ...of('empty', 'carol', ofVault(`/vault/${empty.id}`)),
    ...of('full', 'alice', { ...all, transaction: `/transaction/${paid}` }),
    ...of('pending', 'bob', { home: '/', policy: `${treasury}/policy`, transaction: `/transaction/${pending.id}` }),
    ...of('hostile', 'bob', { home: '/', ...ofVault(hostilePath), transaction: `/transaction/${imitation.id}` }),
    ...of('error', 'carol', all),
    ...of('offline', 'carol', all),
  ];
}

/** An outsider sends tokens that no list has, of large amounts. */
async function receiveTokens(world: BrowserWorld['world'], address: string): Promise<void> {
  const client = anvilClient(world.chainUrl);
  for (let i = 0; i < TOKENS; i++) {
    const token = getAddress(await world.chain.deployDollar(address, 10n ** 30n));
    const logs = await client.getLogs({ address: token, fromBlock: 0n });
    const hash = logs.at(-1)?.transactionHash;
    if (hash === undefined || hash === null) throw new Error(`The token ${token} has no transfer.`);
    await report(world.stack().monitor, hash);
  }
}

const PROBLEM = {
  code: 'internal',
  title: 'Internal error',
  status: 500,
  detail: 'The error was recorded under this request id.',
};
/** Answers that the shell needs to open any page. */
const OF_SHELL = /\/(?:user\/me|session\/vaults)(?:\?|$)/;
const OF_API = /\/(?:vault|transaction|user|session|personal-access-token|push-subscription)(?:\/|\?|$)/;

/** Opens a page in its state. The page is complete when the promise is fulfilled. */
export async function openStated(page: Page, url: string, { state, path }: StatedPage): Promise<void> {
  await page.unrouteAll({ behavior: 'wait' });
  if (state === 'error') {
    await page.route(OF_API, (route) =>
      OF_SHELL.test(route.request().url())
        ? route.continue()
        : route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(PROBLEM) }),
    );
  }
  if (state === 'hostile') {
    // A decision compares its record with the bytes, so another symbol there is a detected lie.
    await page.route(/\/(?:balances|transactions|pending)(?:\?|$)/, async (route) => {
      const response = await route.fetch().catch(() => null);
      // The page was left meanwhile.
      if (response === null) return route.abort();
      const text = (await response.text()).replaceAll('"symbol":"ETH"', `"symbol":${JSON.stringify(LONG_NAME)}`);
      return route.fulfill({ response, body: text });
    });
  }
  await page.goto('about:blank');
  await page.goto(`${url}/#${path}`);
  await page
    .locator(state === 'error' ? 'main' : 'h1')
    .first()
    .waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  if (state !== 'offline') return;
  await page.context().setOffline(true);
  await page.getByRole('region', { name: 'Connection' }).waitFor();
}

/** Ends the state of the page, so that another one can open. */
export async function closeStated(page: Page): Promise<void> {
  await page.context().setOffline(false);
}
