import { expect, test } from 'vitest';
import { runDrill } from '#cli/restore-drill.ts';

test('the vaults restore what D1 lost since a backup, and no number is given out twice', async () => {
  const lines: string[] = [];
  await runDrill((line) => lines.push(line));
  expect(lines.at(-1)).toMatch(/Created a third vault with the new number 3/);
});
