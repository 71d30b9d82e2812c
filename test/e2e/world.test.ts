import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startStack } from '#local/stack/stack.ts';
import { startWorld } from './world.ts';

test('a world that does not start leaves neither a process nor a server behind', async () => {
  const before = running();
  await expect(startWorld({ entry: '/there/is/none.ts' })).rejects.toThrow('The stack did not start');
  expect(running()).toEqual(before);
});

test('a coordinator that has a secret of a co-signer does not start, and the error names the setting alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-foreign-'));
  const secret = 'a text that no log has';
  const started = startStack({ folder, rpcUrls: {}, variables: { KEY_ENCRYPTION_SECRETS: secret } });
  const error = await started.then(
    () => 'it started',
    (cause: unknown) => String(cause),
  );
  await rm(folder, { recursive: true });
  expect(error).toContain('KEY_ENCRYPTION_SECRETS must not be set at the coordinator');
  expect(error).not.toContain(secret);
});

function running(): readonly string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'ProcessWrap' || kind === 'TCPServerWrap');
}
