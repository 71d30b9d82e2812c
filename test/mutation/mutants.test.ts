import { expect, test } from 'vitest';
import { rangeOf } from '../setup/turns.ts';
import type { Argued } from './argued.ts';
import { ARGUED } from './argued.ts';
import { CORE } from './core.ts';
import { mutationsOf } from './operators.ts';
import { idleArguments, isAbout, mutantsOf } from './mutants.ts';

const ALL = CORE.flatMap((part) => mutantsOf(process.cwd(), part));

test.each([1, 7, 60, ALL.length + 1])('each mutant is in exactly one of %i turns', (parts) => {
  const turns = Array.from({ length: parts }, (_, part) => ALL.slice(...rangeOf({ part, parts }, ALL.length)));
  expect(ALL.length).toBeGreaterThan(2000);
  expect(turns.flat()).toEqual(ALL);
  expect(Math.max(...turns.map(({ length }) => length))).toBe(Math.ceil(ALL.length / parts));
});

test('each argument is about a mutant that exists', () => {
  expect(ARGUED.filter((argument) => !ALL.some((mutant) => isAbout(argument, mutant)))).toEqual([]);
});

test('a turn judges the arguments about its own mutants', () => {
  const [survivor, noticed, later] = ALL;
  if (survivor === undefined || noticed === undefined || later === undefined) throw new Error('too few mutants');
  const argued = [survivor, noticed, later].map(({ part, was, is }): Argued => ({ file: part.file, was, is, why: '' }));
  const gone: Argued = { file: survivor.part.file, was: 'gone', is: '', why: '' };
  expect(idleArguments([...argued, gone], [survivor], [later])).toEqual([argued[1], gone]);
});

test('a call of a method that every object has is not replaced', () => {
  expect(mutationsOf('a.ts', 'const text = value.toString(radix);')).toEqual([]);
});
