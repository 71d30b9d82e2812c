import type { Browser, Page } from 'playwright-core';
import { startLoginWorld } from '../e2e/login-world.ts';
import { complaintsOf, launch, logIn } from './chromium.ts';

/** The whole stack, a vault called treasury, and a real browser in which people log in. @param urlOf the service as its readers call it */
export async function startBrowserWorld(
  executable: string,
  urlOf?: (url: string) => string,
  settings: { readonly approvalOrigin?: string } = {},
) {
  const scene = await startLoginWorld(urlOf, settings);
  const { world, url } = scene;
  const vault = await world.vault('treasury');
  const browser = await launch(executable);
  return {
    world,
    url,
    vault,
    browser,
    /** A person's page, in a browser of their own, and what it has complained of until then. */
    pageOf: async (name: string, options: Parameters<Browser['newContext']>[0] = {}) => {
      const context = await browser.newContext(options);
      const page = await logIn(context, url, name);
      return { page, complaints: complaintsOf(page) };
    },
    goTo: (page: Page, path: string) => page.goto(`${url}/#${path}`),
    /** A transfer of alice's that nobody has decided about. Gives its id. */
    transferOf: async (note: string | null = null): Promise<string> => {
      const to = await world.chain.account(7);
      const body = { vaultId: vault.id, chain: 'anvil', to, amount: '1000000000000000' };
      const { id } = await world.people().alice.client.transfer(note === null ? body : { ...body, note });
      return id;
    },
    end: async () => {
      await browser.close();
      await scene.end();
    },
  };
}

export type BrowserWorld = Awaited<ReturnType<typeof startBrowserWorld>>;
