import type { Browser, BrowserContext, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { unwrap } from '#cli/api-client.ts';
import { startLoginWorld } from '../e2e/login-world.ts';
import { complaintsOf, launch, logIn, openContext } from './chromium.ts';

type ContextOptions = Parameters<Browser['newContext']>[0];
type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/**
 * Opens the dashboard for a person in a browser context. The context may have a session; an ended
 * session is started again.
 */
async function enteredPage(context: BrowserContext, url: string, name: string): Promise<Page> {
  if ((await context.cookies()).length === 0) return logIn(context, url, name);
  const page = await context.newPage();
  await page.goto(`${url}/`);
  const [vaults, door] = [page.getByRole('heading', { name: 'Vaults' }), page.getByRole('link', { name: 'Log in' })];
  await vaults.or(door).first().waitFor();
  if (await vaults.isVisible()) return page;
  await page.close();
  await context.clearCookies();
  return logIn(context, url, name);
}

/**
 * Starts the whole stack with a vault called treasury, and a browser in which people log in. @param
 * urlOf the address of the service as its users call it
 */
export async function startBrowserWorld(
  executable: string,
  urlOf?: (url: string) => string,
  settings: { readonly approvalOrigin?: string } = {},
) {
  const scene = await startLoginWorld(urlOf, settings);
  const { world, url } = scene;
  const vault = await world.vault('treasury');
  const browser = await launch(executable);
  /**
   * The sessions of the people who have logged in. They are reused, because a login takes four
   * pages and a second of CPU.
   */
  const sessions = new Map<string, StorageState>();
  /**
   * Opens a page in a browser of that person alone. Returns it with its console messages so far.
   * The page stays open.
   */
  const keptPageOf = async (name: string, options: ContextOptions = {}) => {
    const storageState = sessions.get(name);
    const context = await openContext(browser, { ...options, ...(storageState === undefined ? {} : { storageState }) });
    const page = await enteredPage(context, url, name);
    sessions.set(name, await context.storageState());
    return { page, complaints: complaintsOf(page) };
  };
  return {
    world,
    url,
    vault,
    browser,
    keptPageOf,
    /**
     * Opens such a page and closes it at the end of the test: an open page follows every event of
     * the vault and slows down all later pages.
     */
    pageOf: async (name: string, options: ContextOptions = {}) => {
      const person = await keptPageOf(name, options);
      onTestFinished(() => person.page.context().close());
      return person;
    },
    goTo: (page: Page, path: string) => page.goto(`${url}/#${path}`),
    /** Creates a transfer by alice without decisions. Returns its id. */
    transferOf: async (note: string | null = null): Promise<string> => {
      const to = await world.chain.account(7);
      const body = { vaultId: vault.id, chain: 'anvil', to, amount: '1000000000000000' };
      const { id } = await world.people().alice.client.transfer(note === null ? body : { ...body, note });
      return id;
    },
    /** Puts a proposed policy change of the vault in force: alice and bob approve it by token. */
    approveChange: async (changeId: string): Promise<void> => {
      const { alice, bob } = world.people();
      const param = { vaultId: String(vault.id), changeId };
      for (const { client } of [alice, bob]) {
        await unwrap(client.api.vault[':vaultId']['policy-change'][':changeId'].approve.$post({ param }));
      }
    },
    end: async () => {
      await browser.close();
      await scene.end();
    },
  };
}

export type BrowserWorld = Awaited<ReturnType<typeof startBrowserWorld>>;
