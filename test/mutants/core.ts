import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { domain } from './bug.ts';

/** A part of what money hangs on, and the tests that should notice any change of it: first the near ones, then whoever else depends on it. */
export interface CorePart {
  readonly file: string;
  readonly tests: readonly string[];
  readonly further: readonly string[];
}

const FOLDER = join(import.meta.dirname, '../domain');

/** All of the domain but the half million states of small scopes, which take a minute. */
const ALL_OF_DOMAIN = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.test.ts') && name !== 'small-scope.test.ts')
  .map((name) => `test/domain/${name}`);

const inDomain = (name: string, tests: readonly string[] = domain(name)): CorePart => ({
  file: `src/domain/${name}.ts`,
  tests,
  further: ALL_OF_DOMAIN,
});

export const CORE: readonly CorePart[] = [
  inDomain('amount'),
  inDomain('approval'),
  inDomain('policy'),
  inDomain('device'),
  inDomain('canonical', [...domain('intent'), ...domain('read-canonical')]),
  inDomain('read-canonical'),
  inDomain('access-token'),
  inDomain('equal-texts', [...domain('access-token'), 'test/monitors/signatures.test.ts']),
  inDomain('wallet-nonce'),
  inDomain('ledger'),
];
