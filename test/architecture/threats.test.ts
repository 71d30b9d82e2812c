import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** The threat model names a test for each attack, and each test of an attacker stands in it. Its paths exist: documents.test.ts. */

const PROJECT = join(import.meta.dirname, '..', '..');
const MODEL = readFileSync(join(PROJECT, 'docs', 'threat-model.md'), 'utf8');

/** The attacks of a model: the list items that begin with what an attacker tries. */
function attacksOf(model: string): readonly string[] {
  const [, lists = ''] = model.split(/^## How to read the lists$/mu);
  return lists.split(/\n(?=- \*\*)/u).slice(1);
}

const withoutTest = (model: string) => attacksOf(model).filter((attack) => !/`test\/[^`]+\.test\.ts`/u.test(attack));

test('each attack of the threat model has a test', () => {
  expect(attacksOf(MODEL).length).toBeGreaterThan(90);
  expect(withoutTest(MODEL)).toEqual([]);
  expect(withoutTest('## How to read the lists\n\n- **Sign twice.** Stopped.')).toHaveLength(1);
});

test('each test of an attacker stands in the threat model', () => {
  const files = globSync('test/attacks/**/*.test.ts', { cwd: PROJECT });
  expect(files.length).toBeGreaterThan(25);
  expect(files.filter((file) => !MODEL.includes(`\`${file}\``))).toEqual([]);
});
