import { expect, test } from 'vitest';
import type { CosignerSettings } from '#cosigner-client/endpoints.ts';
import { cosignerEndpoints } from '#cosigner-client/endpoints.ts';

/** Covers the settings by which a coordinator finds its co-signers. */

const bound = { fetch: () => {} } as unknown as Fetcher;
const three = { COSIGNER_1: bound, COSIGNER_2: bound, COSIGNER_3: bound };
const COORDINATOR_SECRET = '11'.repeat(32);
const urls = (...numbers: readonly number[]) =>
  JSON.stringify(Object.fromEntries(numbers.map((number) => [number, `https://cosigner-${number}.example.com`])));

function positionsOf(env: CosignerSettings): readonly string[] {
  return cosignerEndpoints(env).map((path) => {
    return `${path.index} ${'url' in path ? path.url : 'bound'}`;
  });
}

test.each<[string, CosignerSettings, readonly string[]]>([
  ['three in this account', three, ['1 bound', '2 bound', '3 bound']],
  [
    'a fourth in another account',
    { ...three, COSIGNER_URLS: urls(4), COORDINATOR_SECRET },
    ['1 bound', '2 bound', '3 bound', '4 https://cosigner-4.example.com'],
  ],
  [
    'one in another account in place of the bound one',
    { ...three, COSIGNER_URLS: urls(2), COORDINATOR_SECRET },
    ['1 bound', '2 https://cosigner-2.example.com', '3 bound'],
  ],
  [
    'five in accounts of their own',
    { COSIGNER_URLS: urls(1, 2, 3, 4, 5), COORDINATOR_SECRET },
    [1, 2, 3, 4, 5].map((number) => `${number} https://cosigner-${number}.example.com`),
  ],
  [
    'on this machine',
    { ...three, COSIGNER_URLS: '{"3":"http://127.0.0.1:8787"}', COORDINATOR_SECRET },
    ['1 bound', '2 bound', '3 http://127.0.0.1:8787'],
  ],
])('%s', (_name, env, positions) => {
  expect(positionsOf(env)).toEqual(positions);
});

test.each<[string, CosignerSettings]>([
  ['none', {}],
  ['two', { COSIGNER_1: bound, COSIGNER_2: bound }],
  ['a gap', { COSIGNER_1: bound, COSIGNER_2: bound, COSIGNER_URLS: urls(4), COORDINATOR_SECRET }],
  ['one beyond a gap', { ...three, COSIGNER_URLS: urls(5), COORDINATOR_SECRET }],
  ['a sixth', { ...three, COSIGNER_URLS: urls(6), COORDINATOR_SECRET }],
  ['addresses, and nothing to sign with', { ...three, COSIGNER_URLS: urls(2) }],
  [
    'an address that a network attacker could answer for',
    { ...three, COSIGNER_URLS: '{"1":"http://a.example"}', COORDINATOR_SECRET },
  ],
  ['an address with a path', { ...three, COSIGNER_URLS: '{"1":"https://a.example/x"}', COORDINATOR_SECRET }],
  ['addresses that are no JSON', { ...three, COSIGNER_URLS: 'nowhere', COORDINATOR_SECRET }],
  ['addresses that are null', { ...three, COSIGNER_URLS: 'null', COORDINATOR_SECRET }],
  ['a number in place of an address', { ...three, COSIGNER_URLS: '{"1":1}', COORDINATOR_SECRET }],
])('the settings %s are refused', (_name, env) => {
  expect(() => cosignerEndpoints(env)).toThrow(/co-signers|COSIGNER_URLS/);
});
