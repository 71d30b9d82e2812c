import { startLocalIssuer } from '#local/stack/openid-issuer.ts';
import type { Browser } from './browser.ts';
import type { WorldOptions } from './world.ts';
import { startWorld } from './world.ts';

/** Follows a login up to the redirect to the service, and does not open that redirect. */
export async function comesBack(
  url: string,
  browser: Browser,
  { name, to = '/user/me' }: { readonly name: string; readonly to?: string | undefined },
): Promise<void> {
  const stopAt = (address: string) => address.startsWith(`${url}/login/callback`);
  const answer = await browser.go(`${url}/login?to=${encodeURIComponent(to)}`, stopAt);
  if (stopAt(browser.url)) return;
  const consent = await browser.submit(await answer.text(), { login: name, password: 'any' }, stopAt);
  if (!stopAt(browser.url)) await browser.submit(await consent.text(), {}, stopAt);
}

/**
 * Starts the whole stack with a real login issuer. @param urlOf the service as its readers call it
 */
export async function startLoginWorld(
  urlOf: (url: string) => string = (url) => url,
  requested: Partial<Pick<WorldOptions, 'rateLimits' | 'approvalOrigin'>> = {},
) {
  const issuer = await startLocalIssuer();
  const world = await startWorld({ ...requested, login: issuer.login });
  const url = urlOf(world.stack().url);
  issuer.serve(url);
  return {
    issuer,
    world,
    url,
    end: async () => {
      await world.end();
      await issuer.stop();
    },
  };
}

export type LoginWorld = Awaited<ReturnType<typeof startLoginWorld>>;
