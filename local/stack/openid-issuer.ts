import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** An issuer of OpenID Connect on this machine: a real one, in which whoever types a name is that person. Never for anything but trying. */
export interface LocalIssuer {
  /** The LOGIN setting of a service that believes it. */
  readonly login: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
  /** Lets people log in at the service that is there. */
  readonly serve: (serviceUrl: string) => void;
  readonly stop: () => Promise<void>;
}

const CLIENT = { clientId: 'conclave', clientSecret: 'local-only-and-no-secret' };

/** Its address is known before it serves, since a service has to know it, and it the service's. */
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

/** Returns what `create` returns. The library warns of its development features, and a local issuer is made of them. */
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
    // The claims are in the ID token, where the service looks: it asks for nothing else.
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

/** `carol (new)` is somebody else with carol's address, and `dave?` one whose address nobody has verified. */
function claimsOf(name: string) {
  const [first = ''] = name.split(/[ ?]/);
  return { sub: name, email: `${first}@example.com`, email_verified: !name.endsWith('?') };
}
