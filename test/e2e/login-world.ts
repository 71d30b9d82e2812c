import { startLocalIssuer } from '#local/openid-issuer.ts';
import { startWorld } from './world.ts';

/** The whole stack, in which people log in with a real issuer. @param urlOf the service as its readers call it */
export async function startLoginWorld(
  urlOf: (url: string) => string = (url) => url,
  { approvalOrigin }: { readonly approvalOrigin?: string } = {},
) {
  const issuer = await startLocalIssuer();
  const world = await startWorld({ login: issuer.login, ...(approvalOrigin === undefined ? {} : { approvalOrigin }) });
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
