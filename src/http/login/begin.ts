import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { attemptCookie, pathOf, redirectUriOf } from '#http/login/attempt-cookie.ts';
import { problem } from '#http/encode/problem.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { beginLogin } from '#login/openid.ts';
import { loginSettings } from '#login/settings.ts';

/** `to` is the path of this service to open after the login. */
const beginQuery = z.strictObject({ to: z.string().max(1024).optional() });

/** GET /login: redirects the browser to the identity provider. */
export const beginLoginRoute = route({
  method: 'GET',
  path: '/login',
  access: 'anyone',
  summary: 'Start a login in a browser',
  query: beginQuery,
  answer: { status: 302, schema: null },
  refuses: ['quota-exceeded', 'login-not-configured', 'login-unavailable'],
  handle: begin,
});

async function begin(context: HttpContext, { query }: Input<{ query: typeof beginQuery }>): Promise<Response> {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  const settings = loginSettings(context.env.LOGIN);
  if (settings === null) return problem(context, 'login-not-configured');
  const begun = await beginLogin(settings, redirectUriOf(context));
  if (!begun.ok) return problem(context, 'login-unavailable');
  const { url, attempt } = begun.value;
  const to = pathOf(context, query.to);
  return context.body(null, 302, {
    location: url,
    'set-cookie': attemptCookie({ ...attempt, to }),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
}
