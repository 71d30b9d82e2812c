import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { RELEASE } from '#domain/operations/release.ts';
import { checkOutside } from '../../../cli/doctor/outside-check.ts';
import type { Status } from '../../../cli/doctor/running-check.ts';
import { monitor } from '../good-status.ts';

/** Covers what `doctor` compares with its release: D1, the approval page and the issuer. */

const INDEX = '<!doctype html>';
const SCRIPT = 'approve();';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const FILES = {
  approvalPage: `${hashOf('rules')}  _headers\n${hashOf(SCRIPT)}  approval-page.js\n${hashOf(INDEX)}  index.html\n`,
  headers: "/*\n  Content-Security-Policy: default-src 'none'\n  X-Frame-Options: DENY\n",
  newestMigration: '0024_alerts.sql',
};

const GOOD = {
  headers: { 'content-security-policy': "default-src 'none'", 'x-frame-options': 'DENY' } as Record<string, string>,
  bodies: new Map<string, string>(),
};
let served = GOOD;
let host = '';

const server = createServer((request, response) => {
  const body = served.bodies.get(`${request.method === 'POST' ? 'POST ' : ''}${request.url}`);
  response.writeHead(body === undefined ? 404 : 200, served.headers).end(body);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  const bodies = new Map([
    ['/index.html', INDEX],
    ['/approval-page.js', SCRIPT],
    ['/allowed-origins.json', JSON.stringify([host])],
    ['POST /webhook/alchemy/main', JSON.stringify({ code: 'webhook-refused' })],
    ['/.well-known/openid-configuration', JSON.stringify({ issuer: host })],
  ]);
  served = { headers: { ...GOOD.headers }, bodies };
});

async function found(
  change: object = {},
  release = RELEASE,
  monitors: Status['monitors'] = [monitor(null)],
): Promise<readonly string[]> {
  const deployment = {
    approvalOrigins: [host],
    issuer: host,
    newestMigration: '0024_alerts.sql',
    passkeyOrigins: [],
    ...change,
  };
  const findings = await checkOutside({ release, deployment, monitors }, host, FILES);
  return findings.map(({ level, name, detail }) => `${level} ${name}: ${detail}`);
}

test('a deployment that serves its release has no finding', async () => {
  expect(await found()).toEqual([]);
  expect(await found({ approvalOrigins: [], issuer: null })).toEqual([]);
});

test('an approval page with another file, without a header or without the dashboard is a fault', async () => {
  served.bodies.set('/approval-page.js', 'approve(); steal();');
  served.bodies.delete('/allowed-origins.json');
  delete served.headers['x-frame-options'];
  expect(await found()).toEqual([
    'fault APPROVAL_ORIGIN: approval-page.js is not the file of the release.',
    'fault APPROVAL_ORIGIN: The header X-Frame-Options is not that of the release.',
    `fault APPROVAL_ORIGIN: allowed-origins.json does not name ${host}.`,
  ]);
  served.bodies.delete('/index.html');
  expect(await found()).toContain('fault APPROVAL_ORIGIN: index.html cannot be read: HTTP 404.');
  expect(await found({ approvalOrigins: ['http://127.0.0.1:1'] })).toContain(
    'fault APPROVAL_ORIGIN: index.html cannot be read: no connection.',
  );
});

test('a D1 without the newest migration is a fault', async () => {
  const fault = (applied: string) =>
    `fault migrations: The newest migration of D1 is ${applied}, and that of the release is 0024_alerts.sql.`;
  expect(await found({ newestMigration: '0023_rpc_nodes.sql' })).toEqual([fault('0023_rpc_nodes.sql')]);
  expect(await found({ newestMigration: null })).toEqual([fault('none')]);
});

test('an issuer that is gone, or that names another one, is a fault', async () => {
  served.bodies.set('/.well-known/openid-configuration', JSON.stringify({ issuer: 'https://other.example.com' }));
  expect(await found()).toEqual([
    'fault LOGIN: The configuration of the issuer names another issuer, so no person can log in.',
  ]);
  served.bodies.delete('/.well-known/openid-configuration');
  expect(await found()).toEqual(['fault LOGIN: The issuer gives no configuration: HTTP 404.']);
});

test('a service of another release is not compared with this one, and its issuer is checked', async () => {
  served.bodies.set('/approval-page.js', 'of another release');
  expect(await found({ newestMigration: 'another' }, '9.9.9')).toEqual([
    `warning 9.9.9: This command is of release ${RELEASE}, so the approval page and D1 are not compared.`,
  ]);
});

test('a host that refuses deliveries in place of the service is a fault', async () => {
  served.bodies.set('POST /webhook/alchemy/main', '<title>Log in</title>');
  expect(await found()).toEqual(['fault webhook: Deliveries from outside do not reach the service: HTTP 200.']);
  served.bodies.delete('POST /webhook/alchemy/main');
  expect(await found()).toEqual(['fault webhook: Deliveries from outside do not reach the service: HTTP 404.']);
  expect(await found({}, RELEASE, [{ ...monitor(null), provider: null }])).toEqual([]);
  served.bodies.set('POST /webhook/alchemy/main', JSON.stringify({ code: 'quota-exceeded' }));
  expect(await found()).toEqual([]);
});
