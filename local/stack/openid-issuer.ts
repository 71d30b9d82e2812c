import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/**
 * An OpenID Connect issuer on this machine: a real one, in which each user logs in by typing a
 * name. For local tests only.
 */
export interface LocalIssuer {
  /** The LOGIN setting of a service that trusts it. */
  readonly login: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
  /** Serves logins for the service at this URL. */
  readonly serve: (serviceUrl: string) => void;
  readonly stop: () => Promise<void>;
}

const CLIENT = { clientId: 'conclave', clientSecret: 'local-only-and-no-secret' };

/**
 * Starts the issuer. Its address is known before it serves, since the service and the issuer need
 * the address of each other.
 */
export async function startLocalIssuer(port = 0): Promise<LocalIssuer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    login: { issuer, ...CLIENT },
    serve: (serviceUrl) => {
      const answer = withoutWarnings(() => providerOf(issuer, serviceUrl)).callback();
      server.on('request', (request, response) => void answer(request, response));
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/**
 * Returns what `create` returns. The library warns about development features, which a local issuer
 * uses.
 */
function withoutWarnings<T>(create: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return create();
  } finally {
    console.warn = warn;
  }
}

function providerOf(issuer: string, serviceUrl: string): Provider {
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [`${serviceUrl}/login/callback`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // The claims are in the ID token, which is the only one that the service reads.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_context, name) => ({ accountId: name, claims: () => claimsOf(name) }),
    cookies: { keys: ['local'] },
    jwks: {
      keys: [
        { ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), use: 'sig' },
      ],
    },
    ttl: { Interaction: 600, Session: 3600, Grant: 3600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  });
}

/**
 * Returns the claims of a name. `carol (new)` is another user with carol's address, and the address
 * of `dave?` is not verified.
 */
function claimsOf(name: string) {
  const [first = ''] = name.split(/[ ?]/);
  return { sub: name, email: `${first}@example.com`, email_verified: !name.endsWith('?') };
}
