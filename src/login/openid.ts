import * as oauth from 'oauth4webapi';
import type { LoginSettings } from '#login/settings.ts';
import { isLoopback } from '#domain/secure-address.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * The values that the browser keeps during the redirect: only a browser with all three can complete
 * the login that it began.
 */
export interface LoginAttempt {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
}

/**
 * A user as an identity provider knows them. The subject is permanent, while an address may belong
 * to another user next year.
 */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Lower case; null when the issuer does not confirm that the address is the user's. */
  readonly verifiedEmail: string | null;
}

/**
 * `refused`: the issuer, or the check of its answer, refuses. `unavailable`: the issuer does not
 * answer.
 */
export type LoginFault = 'refused' | 'unavailable';

const SCOPES = 'openid email';
const TIMEOUT_MS = 10_000;
const METADATA_MS = 10 * 60_000;

/**
 * Returns the URL of the issuer's login page (OAuth 2.1's authorization code with PKCE, OpenID
 * Connect Core 1.0).
 */
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
 * Returns the identity of a completed login. Verifies the state, the issuer (RFC 9207), the code
 * under the verifier, and of the ID token its issuer, audience, nonce, times and signature. Refuses
 * `unavailable`, `refused`.
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

/**
 * Reports whether an error is an answer. Everything that the library rejects is one; a broken
 * connection or a time-out is not.
 */
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

/**
 * Returns the issuer's metadata (OpenID Connect Discovery 1.0), or null when it does not answer, or
 * answers for another issuer.
 */
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

/** Allows a connection without TLS only to this machine. */
function carefully({ issuer }: LoginSettings) {
  return {
    signal: () => AbortSignal.timeout(TIMEOUT_MS),
    ...(isLoopback(issuer) ? { [oauth.allowInsecureRequests]: true } : {}),
  };
}
