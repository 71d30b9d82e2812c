import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { settingFaults } from '#http/internal/setting-faults.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';

/**
 * Covers wrong settings of the coordinator. Each one started without a word in an audit of 82 wrong
 * settings, whose numbers the cases have.
 */

const KEY = 'service_key_of_the_tests';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const SECRET = 'ab'.repeat(32);
const URLS = ['https://one.example', 'https://two.example/key'];
const binding = { fetch: async () => new Response() };

const GOOD = {
  RPC_URLS: JSON.stringify({ anvil: URLS }),
  CHAINS: '',
  COSIGNER_1: binding,
  COSIGNER_2: binding,
  COSIGNER_3: binding,
  COSIGNER_URLS: '',
  COORDINATOR_SECRET: SECRET,
  TOKEN_MAC_KEY: 'cd'.repeat(32),
  SERVICE_KEY_HASHES: hashOf(KEY),
  APPROVAL_ORIGIN: 'https://approve.example',
  LOGIN: '{"issuer":"https://login.example","clientId":"x"}',
  PRICE_SOURCES: '[{"type":"static","prices":{"eip155:31337":"2500.00"}}]',
  RATE_LIMITS: '{"read":100}',
  WEBHOOK_ENDPOINTS: '{"local":{"provider":"alchemy","secrets":["12345678"]}}',
};

const faultsOf = (differences: object) =>
  settingFaults({ ...GOOD, ...differences } as unknown as CoordinatorEnv).map(({ name }) => name);

test('good settings have no fault, and neither have those that are empty or absent', () => {
  expect(faultsOf({})).toEqual([]);
  const optional = ['APPROVAL_ORIGIN', 'LOGIN', 'PRICE_SOURCES', 'RATE_LIMITS', 'WEBHOOK_ENDPOINTS', 'CHAINS'];
  for (const nothing of ['', undefined]) {
    expect(faultsOf(Object.fromEntries(optional.map((name) => [name, nothing])))).toEqual([]);
  }
});

test.each<[string, object, string]>([
  ['01 RPC_URLS missing', { RPC_URLS: undefined }, 'RPC_URLS'],
  ['02 RPC_URLS empty text', { RPC_URLS: '' }, 'RPC_URLS'],
  ['03 RPC_URLS not JSON', { RPC_URLS: '{anvil:x}' }, 'RPC_URLS'],
  ['04 a chain that does not exist', { RPC_URLS: JSON.stringify({ anvill: URLS }) }, 'RPC_URLS'],
  ['05 a CAIP-2 name', { RPC_URLS: JSON.stringify({ 'eip155:31337': URLS }) }, 'RPC_URLS'],
  ['07 one URL twice', { RPC_URLS: JSON.stringify({ anvil: [URLS[0], URLS[0]] }) }, 'RPC_URLS'],
  ['08 http', { RPC_URLS: JSON.stringify({ anvil: ['https://a.example', 'http://b.example'] }) }, 'RPC_URLS'],
  ['11 no scheme', { RPC_URLS: JSON.stringify({ anvil: ['rpc.example.com'] }) }, 'RPC_URLS'],
  ['12 a chain twice', { RPC_URLS: '{"anvil":["https://a.example"],"anvil":["https://b.example"]}' }, 'RPC_URLS'],
  ['13 CHAINS malformed', { CHAINS: '[{"name":"x"}]' }, 'CHAINS'],
  ['14 COSIGNER_URLS not JSON', { COSIGNER_URLS: '3=https://x' }, 'COSIGNER_URLS'],
  ['15 a slash', { COSIGNER_URLS: '{"3":"https://c3.example.com/"}' }, 'COSIGNER_URLS'],
  ['16 http', { COSIGNER_URLS: '{"3":"http://c3.example.com"}' }, 'COSIGNER_URLS'],
  ['17 a gap', { COSIGNER_URLS: '{"5":"https://c5.example.com"}' }, 'COSIGNER_URLS'],
  ['21 COORDINATOR_SECRET short', { COORDINATOR_SECRET: 'abcd' }, 'COORDINATOR_SECRET'],
  ['22 TOKEN_MAC_KEY missing', { TOKEN_MAC_KEY: undefined }, 'TOKEN_MAC_KEY'],
  ['23 TOKEN_MAC_KEY empty', { TOKEN_MAC_KEY: '' }, 'TOKEN_MAC_KEY'],
  ['24 TOKEN_MAC_KEY ab', { TOKEN_MAC_KEY: 'ab' }, 'TOKEN_MAC_KEY'],
  ['26 SERVICE_KEY_HASHES missing', { SERVICE_KEY_HASHES: undefined }, 'SERVICE_KEY_HASHES'],
  ['27 upper case', { SERVICE_KEY_HASHES: hashOf(KEY).toUpperCase() }, 'SERVICE_KEY_HASHES'],
  ['28 the key itself', { SERVICE_KEY_HASHES: KEY }, 'SERVICE_KEY_HASHES'],
  [
    '31 WEBHOOK_ENDPOINTS malformed',
    { WEBHOOK_ENDPOINTS: '{"local":{"provider":"standard-webhooks"}}' },
    'WEBHOOK_ENDPOINTS',
  ],
  [
    '32 an unknown provider',
    { WEBHOOK_ENDPOINTS: '{"local":{"provider":"alchmy","secrets":["12345678"]}}' },
    'WEBHOOK_ENDPOINTS',
  ],
  [
    '33 a bad entry beside a good one',
    {
      WEBHOOK_ENDPOINTS: '{"a":{"provider":"alchemy","secrets":["12345678"]},"b":{"provider":"alchemy","secrets":[]}}',
    },
    'WEBHOOK_ENDPOINTS',
  ],
  ['34 a slash', { APPROVAL_ORIGIN: 'https://approve.example.com/' }, 'APPROVAL_ORIGIN'],
  ['35 http', { APPROVAL_ORIGIN: 'http://approve.example.com' }, 'APPROVAL_ORIGIN'],
  ['37 an issuer without TLS', { LOGIN: '{"issuer":"http://login.example.com","clientId":"x"}' }, 'LOGIN'],
  ['38 LOGIN not JSON', { LOGIN: 'issuer=https://x' }, 'LOGIN'],
  ['40 PRICE_SOURCES malformed', { PRICE_SOURCES: '[{"type":"foo"}]' }, 'PRICE_SOURCES'],
  ['41 RATE_LIMITS typo', { RATE_LIMITS: '{"reads":100}' }, 'RATE_LIMITS'],
  ['42 a delay of a minute', { CREDENTIAL_RESET_DELAY_SECONDS: '60' }, 'CREDENTIAL_RESET_DELAY_SECONDS'],
  ['43 a secret of a co-signer', { IDENTITY_SECRET: SECRET }, 'IDENTITY_SECRET'],
  ['43 a further one', { KEY_ENCRYPTION_SECRETS: '[]' }, 'KEY_ENCRYPTION_SECRETS'],
  ['46 one secret for two purposes', { TOKEN_MAC_KEY: SECRET }, 'COORDINATOR_SECRET'],
  ['LOG_SHARE of two', { LOG_SHARE: '2' }, 'LOG_SHARE'],
  ['a longest life of no days', { MAX_TOKEN_DAYS: '0' }, 'MAX_TOKEN_DAYS'],
  ['ALERT_WEBHOOK without TLS', { ALERT_WEBHOOK: '{"form":"slack","url":"http://a.example"}' }, 'ALERT_WEBHOOK'],
  ['HEARTBEAT_URL without TLS', { HEARTBEAT_URL: 'http://ping.example/x' }, 'HEARTBEAT_URL'],
  ['WEB_PUSH without keys', { WEB_PUSH: '{}' }, 'WEB_PUSH'],
  ['EMAIL_NOTIFICATIONS not JSON', { EMAIL_NOTIFICATIONS: 'x' }, 'EMAIL_NOTIFICATIONS'],
])('%s is named', (_case, differences, name) => {
  expect(faultsOf(differences)).toEqual([name]);
});

test('a fault names its setting, and has no part of a value', () => {
  const secret = 'hunter2-hunter2';
  const values = Object.fromEntries(
    Object.keys(GOOD).flatMap((name) => (name.endsWith('R_1') ? [] : [[name, secret]])),
  );
  const quoted = { ...values, WEBHOOK_ENDPOINTS: `{"a":{"provider":"${secret}","secrets":"${secret}"}}` };
  const faults = settingFaults({ ...values, ...quoted, COSIGNER_1: binding } as unknown as CoordinatorEnv);
  expect(faults.length).toBeGreaterThan(8);
  for (const { name, fault } of faults) {
    expect(fault).not.toContain('hunter2');
    expect(fault).toMatch(/^[A-Z][A-Z_]+/);
    expect(name).not.toBe('');
  }
});
