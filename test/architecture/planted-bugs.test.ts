import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUGS } from '../planted-bugs/all-bugs.ts';

/** The suite that plants the bugs takes an hour. What makes a bug useless, a renamed file or line, is found here in a moment. */

test('the text that each planted bug replaces is in its file exactly once', () => {
  const lost = BUGS.filter(({ file, was }) => !existsSync(file) || readFileSync(file, 'utf8').split(was).length !== 2);
  expect(lost.map(({ name }) => name)).toEqual([]);
});

test('each test that has to catch a planted bug exists', () => {
  const missing = BUGS.flatMap(({ caughtBy }) =>
    typeof caughtBy === 'string' ? [] : caughtBy.filter((file) => !existsSync(file)),
  );
  expect(missing).toEqual([]);
});
