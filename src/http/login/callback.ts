import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { attemptOf, endedAttemptCookie, pathOf, redirectUriOf } from '#http/login/attempt-cookie.ts';
import { problem } from '#http/encode/problem.ts';
import { beginSession } from '#http/session/begin.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { endLogin } from '#login/openid.ts';
import { loginSettings } from '#login/settings.ts';
import { userOfIdentity } from '#store/identities.ts';

/**
 * GET /login/callback: completes a login after the redirect of the identity provider and creates a
 * session for a known user. The subject of the provider identifies the user; the first time, an
 * e-mail address that the provider has verified does. A login never creates a user; only an
 * operator does.
 *
 * `login-refused`: the login was not started in this browser, or the provider refused it.
 */
export const endLoginRoute = route({
  method: 'GET',
  path: '/login/callback',
  access: 'anyone',
  summary: 'Complete a login in a browser',
  answer: { status: 302, schema: null },
  refuses: [
    'quota-exceeded',
    'login-not-configured',
    'login-refused',
    'login-unavailable',
    'login-unknown',
    'user-disabled',
  ],
  handle: end,
});

async function end(context: HttpContext): Promise<Response> {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  const settings = loginSettings(context.env.LOGIN);
  if (settings === null) return problem(context, 'login-not-configured');
  const attempt = attemptOf(context);
  // A login can be completed only once, whatever the result.
  const headers = { 'set-cookie': endedAttemptCookie(), 'cache-control': 'no-store' };
  if (attempt === null) {
    return problem(context, 'login-refused', {
      detail: 'This login was not started in this browser. Please start again.',
      headers,
    });
  }
  const cameBackTo = new URL(context.req.url);
  const ended = await endLogin(settings, { redirectUri: redirectUriOf(context), cameBackTo, attempt });
  if (!ended.ok) {
    const code = `login-${ended.refusal}` as const;
    return problem(context, code, { detail: 'The login was not completed. Please start again.', headers });
  }
  const user = await userOfIdentity(context.env.DB, ended.value, Date.now());
  if (user === null) {
    const detail = 'You are not a user of this service. Contact its operator.';
    return problem(context, 'login-unknown', { detail, headers });
  }
  const begun = await beginSession(context, user);
  if (!begun.ok) return problem(context, begun.refusal.code, { headers });
  const answer = context.body(null, 302, {
    location: pathOf(context, attempt.to),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  answer.headers.append('set-cookie', endedAttemptCookie());
  answer.headers.append('set-cookie', begun.value);
  return answer;
}
