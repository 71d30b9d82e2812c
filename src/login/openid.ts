import * as oauth from 'oauth4webapi';
import type { LoginSettings } from '#login/settings.ts';
import { isLoopback } from '#login/settings.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** What the browser keeps between going away and coming back: only whoever has all three ends the login that it has begun. */
export interface LoginAttempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** A person as an issuer knows them. The subject is theirs for good; an address may be somebody else's next year. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Lower case; null where the issuer does not say that it is the person's. */
  readonly verifiedEmail: string | null;
}

/** `refused`: the issuer, or what came back, says no. `unavailable`: the issuer does not answer. */
export type LoginFault = 'refused' | 'unavailable';

const SCOPES = 'openid email';
const TIMEOUT_MS = 10_000;
const METADATA_MS = 10 * 60_000;

/** Where to send somebody who wants to log in (OAuth 2.1's authorization code with PKCE, OpenID Connect Core 1.0). */
export async function beginLogin(
  settings: LoginSettings,
  redirectUri: string,
): Promise<Result<{ readonly url: string; readonly attempt: LoginAttempt }, LoginFault>> {
  const server = await metadataOf(settings);
  if (server?.authorization_endpoint === undefined) return refused('unavailable');
  const attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    scope: SCOPES,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return accepted({ url: url.href, attempt });
}

/**
 * Who has come back. The state, the issuer (RFC 9207), the code under the verifier, and of the ID token its issuer, audience, nonce, times and
 * signature are what they have to be. Refuses `unavailable`, `refused`.
 */
export async function endLogin(
  settings: LoginSettings,
  {
    redirectUri,
    cameBackTo,
    attempt,
  }: { readonly redirectUri: string; readonly cameBackTo: URL; readonly attempt: LoginAttempt },
): Promise<Result<Identity, LoginFault>> {
  const server = await metadataOf(settings);
  if (server === null) return refused('unavailable');
  const client: oauth.Client = { client_id: settings.clientId };
  const { clientSecret } = settings;
  const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
  try {
    const parameters = oauth.validateAuthResponse(server, client, cameBackTo, attempt.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      parameters,
      redirectUri,
      attempt.verifier,
      carefully(settings),
    );
    const expected = { expectedNonce: attempt.nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
    await oauth.validateApplicationLevelSignature(server, response, carefully(settings));
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    return claims === undefined ? refused('refused') : accepted(identityOf(claims));
  } catch (error) {
    return refused(isAnswer(error) ? 'refused' : 'unavailable');
  }
}

function identityOf({ iss, sub, email, email_verified: isVerified }: oauth.IDToken): Identity {
  const isTheirs = typeof email === 'string' && isVerified === true;
  return { issuer: iss, subject: sub, verifiedEmail: isTheirs ? email.toLowerCase() : null };
}

/** Everything that the library finds wrong is an answer; a connection that breaks, or takes too long, is none. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.AuthorizationResponseError ||
    error instanceof oauth.ResponseBodyError ||
    error instanceof oauth.WWWAuthenticateChallengeError ||
    error instanceof oauth.UnsupportedOperationError
  );
}

const KNOWN = new Map<string, { readonly server: oauth.AuthorizationServer; readonly atMs: number }>();

/** What the issuer says of itself (OpenID Connect Discovery 1.0); null where it does not answer, or answers for another one. */
async function metadataOf(settings: LoginSettings): Promise<oauth.AuthorizationServer | null> {
  const known = KNOWN.get(settings.issuer);
  if (known !== undefined && Date.now() - known.atMs < METADATA_MS) return known.server;
  try {
    const issuer = new URL(settings.issuer);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...carefully(settings) });
    const server = await oauth.processDiscoveryResponse(issuer, response);
    KNOWN.set(settings.issuer, { server, atMs: Date.now() });
    return server;
  } catch {
    return null;
  }
}

/** Without TLS only where it is this machine. */
function carefully({ issuer }: LoginSettings) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    ...(isLoopback(issuer) ? { [oauth.allowInsecureRequests]: true } : {}),
  };
}
