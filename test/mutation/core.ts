import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { domain } from '../planted-bugs/bug.ts';

/**
 * A part of the code that decides about money, and the tests that should notice any change of it:
 * first its own tests, then tests of other parts that depend on it.
 */
export interface CorePart {
  readonly file: string;
  readonly tests: readonly string[];
  readonly further: readonly string[];
}

const FOLDER = join(import.meta.dirname, '../domain');

/** All tests of the domain except the half million states of small scopes, which take a minute. */
const ALL_OF_DOMAIN = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'small-scope.test.ts')
  .map((name) => `test/domain/${name}`);

const inDomain = (name: string, tests: readonly string[] = domain(name)): CorePart => ({
  file: `src/domain/${name}.ts`,
  tests,
  further: ALL_OF_DOMAIN,
});

/** Parts outside the domain have all of their tests beside them. */
const outside = (file: string, tests: readonly string[]): CorePart => ({ file: `src/${file}.ts`, tests, further: [] });

const MONITOR_TESTS = ['signatures', 'hints', 'unread', 'networks', 'field'].map(
  (name) => `test/monitors/${name}.test.ts`,
);
const READERS = ['alchemy', 'helius', 'moralis', 'quicknode', 'standard-webhooks'];
const MONITORS = ['endpoint', 'monitor', 'networks', 'report', 'hash-search', ...READERS];

export const CORE: readonly CorePart[] = [
  inDomain('asset/amount', domain('asset/amount')),
  inDomain('transaction/approvals', domain('transaction/approvals')),
  inDomain('policy/counted-approvals', domain('transaction/approvals')),
  inDomain('policy/policy', domain('policy/policy')),
  inDomain('access/device', domain('access/device')),
  inDomain('canonical/bytes', [...domain('transaction/intent'), ...domain('canonical/read-text')]),
  inDomain('canonical/read-text', domain('canonical/read-text')),
  inDomain('access/access-token', domain('access/access-token')),
  inDomain('constant-time-equal', [...domain('access/access-token'), 'test/monitors/signatures.test.ts']),
  inDomain('wallet/wallet-nonce', domain('wallet/wallet-nonce')),
  inDomain('asset/balance', domain('asset/balance')),
  inDomain('policy/rules', domain('policy/rules')),
  inDomain('transaction/intent', domain('transaction/intent')),
  inDomain('transaction/transition', [
    ...domain('transaction/steps'),
    ...domain('transaction/steps-in-blocks'),
    ...domain('transaction/transition'),
    ...domain('transaction/transition-matrix'),
  ]),
  inDomain('policy/policy-change', domain('policy/policy-change')),
  outside('devices/verify-signature', ['test/devices/device-signature.test.ts']),
  outside('devices/webauthn', ['test/devices/device-signature.test.ts']),
  outside('cosigner/policy/approval-check', [
    'test/cosigner/policy/approval-check.test.ts',
    'test/cosigner/policy/device-check.test.ts',
  ]),
  outside('cosigner/tables/signed-table', ['test/cosigner/storage.test.ts']),
  outside('cosigner/tables/sealed-table', ['test/cosigner/storage.test.ts']),
  outside('cosigner/tables/storage', ['test/cosigner/storage.test.ts']),
  outside('cosigner/tables/lazy-tables', ['test/cosigner/storage.test.ts']),
  ...MONITORS.map((name) => outside(`monitors/${name}`, MONITOR_TESTS)),
];
