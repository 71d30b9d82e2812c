import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { keysToTest, storeKey } from '#store/operations/key-exports.ts';

const { DB } = env as unknown as CoordinatorEnv;
const QUARTER_MS = 15 * 60_000;

test('a self-test names a few keys, the same for a quarter of an hour, and in a day each of them', async () => {
  await DB.prepare('DELETE FROM key_exports').run();
  expect(await keysToTest(DB, 0)).toEqual([]);
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const keyIds = [...letters].map((letter) => letter.repeat(26));
  for (const keyId of keyIds) await storeKey(DB, { vaultId: 1, keyId, nowMs: 1 });
  const seen = new Set<string>();
  for (let quarter = 0; quarter < 96; quarter++) {
    const named = await keysToTest(DB, quarter * QUARTER_MS);
    expect([named.length, new Set(named).size]).toEqual([6, 6]);
    expect(await keysToTest(DB, quarter * QUARTER_MS + QUARTER_MS - 1)).toEqual(named);
    for (const keyId of named) seen.add(keyId);
  }
  expect(seen.size).toBe(keyIds.length);
});
