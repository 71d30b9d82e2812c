import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { thiefRows } from '../http/thieves/thieves.ts';

/**
 * The threat model names a test for each attack, and each attack test is named in the threat model.
 * documents.test.ts checks that the paths exist.
 */

const PROJECT = join(import.meta.dirname, '..', '..');
const MODEL = readFileSync(join(PROJECT, 'docs', 'threat-model.md'), 'utf8');

/**
 * Returns the attacks of the threat model: the list items whose first words are the action of the
 * attacker.
 */
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

test('each attack test is named in the threat model', () => {
  const files = globSync('test/attacks/**/*.test.ts', { cwd: PROJECT });
  expect(files.length).toBeGreaterThan(25);
  expect(files.filter((file) => !MODEL.includes(`\`${file}\``))).toEqual([]);
});

test('the items about thieves are those that are played', () => {
  // The formatter wraps them.
  const words = (text: string) => text.split(/\s+/u).filter((word) => word !== '');
  const [, section = ''] = MODEL.split(/^## What a thief can do, and who stops it$/mu);
  const [items = ''] = /^- \*\*[^]*?(?=\n## )/mu.exec(section) ?? [];
  expect(words(items)).toEqual(words(thiefRows()));
  expect(items).not.toContain('never');
});
