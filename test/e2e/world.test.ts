import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

test('a world that does not start leaves neither a process nor a server behind', async () => {
  const before = running();
  await expect(startWorld({ entry: '/there/is/none.ts' })).rejects.toThrow('The stack did not start');
  expect(running()).toEqual(before);
});

function running(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap' || kind === 'TCPServerWrap');
}
