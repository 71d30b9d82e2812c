import { expect, test } from 'vitest';
import { SERVICE_SCOPES } from '#domain/operations/service-key.ts';
import { serviceKeysFrom } from '#http/edge/service-key-setting.ts';

const [FIRST, SECOND] = ['a1'.repeat(32), 'b2'.repeat(32)];

test('hashes with commas are keys with every scope from any address', () => {
  const all = { scopes: SERVICE_SCOPES, networks: null };
  expect(serviceKeysFrom(`${FIRST}, ${SECOND}`)).toEqual([
    { hash: FIRST, ...all },
    { hash: SECOND, ...all },
  ]);
});

test('entries of JSON have their scopes and addresses', () => {
  const setting = [
    { hash: FIRST, scopes: ['status'], addresses: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] },
    { hash: SECOND, scopes: ['recovery', 'people', 'vaults', 'status'] },
  ];
  expect(serviceKeysFrom(`\n ${JSON.stringify(setting, null, 2)}`)).toEqual([
    { hash: FIRST, scopes: ['status'], networks: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] },
    { hash: SECOND, scopes: ['recovery', 'people', 'vaults', 'status'], networks: null },
  ]);
  expect(serviceKeysFrom('[]')).toEqual([]);
});

const KEY = { hash: FIRST, scopes: ['status'] };

test.each([
  ['no array', KEY],
  ['a hash instead of an entry', [FIRST]],
  ['an array in an array', [[KEY]]],
  ['no hash', [{ scopes: ['status'] }]],
  ['a hash in upper case', [{ ...KEY, hash: FIRST.toUpperCase() }]],
  ['a short hash', [{ ...KEY, hash: FIRST.slice(1) }]],
  ['a hash with a line end', [{ ...KEY, hash: `${FIRST}\n` }]],
  ['no scopes', [{ hash: FIRST }]],
  ['an empty list of scopes', [{ ...KEY, scopes: [] }]],
  ['null as scopes', [{ ...KEY, scopes: null }]],
  ['a text as scopes', [{ ...KEY, scopes: 'status' }]],
  ['an unknown scope', [{ ...KEY, scopes: ['status', 'everything'] }]],
  ['the scope of a token', [{ ...KEY, scopes: ['read'] }]],
  ['a scope twice', [{ ...KEY, scopes: ['status', 'status'] }]],
  ['an empty list of addresses', [{ ...KEY, addresses: [] }]],
  ['null as addresses', [{ ...KEY, addresses: null }]],
  ['a name as an address', [{ ...KEY, addresses: ['vaults.example.com'] }]],
  ['a network with bits after its prefix', [{ ...KEY, addresses: ['203.0.113.1/24'] }]],
  ['an address twice', [{ ...KEY, addresses: ['203.0.113.1', '203.0.113.1'] }]],
  ['too many addresses', [{ ...KEY, addresses: Array.from({ length: 21 }, (_none, n) => `203.0.113.${n}`) }]],
  ['an unknown field', [{ ...KEY, [SECOND]: 'status' }]],
  ['the name of addresses in a token', [{ ...KEY, allowedAddresses: ['203.0.113.1'] }]],
  ['a hash twice', [KEY, { ...KEY, scopes: ['people'] }]],
  ['a fault in the second entry', [KEY, { ...KEY, hash: SECOND, scopes: ['all'] }]],
])('%s is no setting, and the error does not have its content', (_name, setting) => {
  refused(JSON.stringify(setting));
});

test.each([
  ['an array without an end', `[{"hash":"${FIRST}","scopes":["status"]}`],
  ['hashes in brackets', `[${FIRST}]`],
  ['an object without an end', `{"hash":"${FIRST}"`],
  ['a field twice', `[{"hash":"${FIRST}","scopes":["status"],"scopes":["recovery"]}]`],
])('%s is no setting, and the error does not have its content', (_name, setting) => {
  refused(setting);
});

function refused(setting: string): void {
  expect(() => serviceKeysFrom(setting)).toThrow(/^SERVICE_KEY_HASHES/);
  expect(() => serviceKeysFrom(setting)).not.toThrow(/[ab][12]{4}|status|everything|example|203/i);
}
