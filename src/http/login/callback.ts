import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { attemptOf, endedAttemptCookie, pathOf, redirectUriOf } from '#http/login/attempt-cookie.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { beginSession } from '#http/session/begin.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { endLogin } from '#login/openid.ts';
import { loginSettings } from '#login/settings.ts';
import { personStub } from '#objects/person/stub.ts';
import { userOfIdentity } from '#store/identities.ts';

/**
 * GET /login/callback (ours): where the issuer sends a browser back to, and who is known here has a session. A person is known by the
 * issuer's subject; the first time by an e-mail address that the issuer calls verified. Nobody is entered here: that is an operator's.
 *
 * Refuses, in order: `quota-exceeded` (of the address), `login-not-configured`, `login-refused` (not begun in this browser, or the issuer says
 * no), `login-unavailable`, `login-unknown`.
 */
export const endLoginRoute = route({
  method: 'GET',
  path: '/login/callback',
  access: 'anyone',
  summary: 'Complete a login in a browser',
  answer: { status: 302, schema: null },
  refuses: ['quota-exceeded', 'login-not-configured', 'login-refused', 'login-unavailable', 'login-unknown'],
  handle: end,
});

async function end(context: HttpContext): Promise<Response> {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  const settings = loginSettings(context.env.LOGIN);
  if (settings === null)
    return problem(context, 'login-not-configured', { detail: 'No identity provider is configured.' });
  const attempt = attemptOf(context);
  // One login is one try, whatever comes of it.
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
  // Before a session opens anything: from now on an operator issues nothing without a credential reset.
  await callObject(
    () => personStub(context.env, user.id),
    (person) => person.recordLogin(),
  );
  const cookie = await beginSession(context, user);
  const answer = context.body(null, 302, {
    location: pathOf(context, attempt.to),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  answer.headers.append('set-cookie', endedAttemptCookie());
  answer.headers.append('set-cookie', cookie);
  return answer;
}
