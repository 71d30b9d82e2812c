import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import type { CosignerState, TestedShare } from '#domain/operations/cosigner.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { keysToTest, storeKey } from '#store/operations/key-exports.ts';
import { readShareTests, storeShareTests } from '#store/operations/share-tests.ts';

/** Covers the faults of shares, which stay until a test of the same co-signer ends them. */

const { DB } = env as unknown as CoordinatorEnv;
const NOW_MS = 1_700_000_000_000;
const [FIRST, SECOND, THIRD] = ['a'.repeat(26), 'b'.repeat(26), 'c'.repeat(26)] as const;

beforeEach(async () => {
  await DB.batch(['share_tests', 'key_exports'].map((table) => DB.prepare(`DELETE FROM ${table}`)));
});

const share = (keyId: string, fault: TestedShare['fault'], madeAtMs: number | null = 5): TestedShare => ({
  keyId,
  epoch: 1,
  madeAtMs,
  fault,
});

/** Stores a test of these shares at each of the named co-signers. The others do not answer. */
async function tested(nodes: readonly number[], keys: readonly TestedShare[], others = [1, 2]): Promise<void> {
  const stated = {
    skewMs: 0,
    peers: 'aa',
    keyEncryption: [],
    isSecretReused: false,
    release: '0.2.0',
    stateVersion: 1,
    keys,
  };
  const state = { fault: null, setting: null, banned: [], recoveryKey: 'bb' };
  const all = new Set([...nodes, ...others]);
  const stateOf = (node: number): CosignerState => ({ ...state, node, test: nodes.includes(node) ? stated : null });
  await storeShareTests(DB, [...all].map(stateOf), NOW_MS);
}

const faults = async () =>
  (await readShareTests(DB)).faulty.map(({ node, share: { keyId, fault } }) => [keyId[0], node, fault]);

test('a fault stays while other keys are tested, and ends when its share can be used', async () => {
  await tested([1, 2], [share(FIRST, 'missing')]);
  await tested([1, 2], [share(SECOND, null)]);
  expect(await faults()).toEqual([
    ['a', 1, 'missing'],
    ['a', 2, 'missing'],
  ]);
  await tested([2], [share(FIRST, null)]);
  expect(await faults()).toEqual([['a', 1, 'missing']]);
});

test('a share that can be used again ends the same fault of its co-signer, and no other one', async () => {
  await tested([1], [share(FIRST, 'unreadable'), share(SECOND, 'unreadable'), share(THIRD, 'missing')]);
  await tested([2], [share(SECOND, 'unreadable')]);
  await tested([1], [share(FIRST, null)]);
  expect(await faults()).toEqual([
    ['c', 1, 'missing'],
    ['b', 2, 'unreadable'],
  ]);
});

test('a share that was never at fault ends no fault', async () => {
  await tested([1], [share(FIRST, 'unreadable')]);
  await tested([1], [share(SECOND, null), share(THIRD, null)]);
  expect(await faults()).toEqual([['a', 1, 'unreadable']]);
});

test('the record of a co-signer has its keys, and the oldest and the newest share', async () => {
  await tested([1], [share(FIRST, null, 7), share(SECOND, null, 3)]);
  await tested([1], [share(THIRD, 'missing', null)]);
  await tested([1], [share(FIRST, null, 9)]);
  expect((await readShareTests(DB)).records).toEqual([{ node: 1, keys: 3, oldestMadeAtMs: 3, newestMadeAtMs: 9 }]);
});

test('keys with a faulty share are tested in each quarter of an hour, at most two of them', async () => {
  const keyIds = [...'defghijklmnopq'].map((letter) => letter.repeat(26));
  for (const keyId of [FIRST, SECOND, THIRD, ...keyIds]) await storeKey(DB, { vaultId: 1, keyId, nowMs: 1 });
  await tested(
    [1, 2],
    [FIRST, SECOND, THIRD].map((keyId) => share(keyId, 'missing')),
  );
  const again = new Set<string>();
  for (let quarter = 0; quarter < 40; quarter++) {
    const named = await keysToTest(DB, NOW_MS + quarter * 900_000);
    const faulty = named.slice(0, 2);
    expect(faulty.filter((keyId) => keyIds.includes(keyId))).toEqual([]);
    expect([named.length <= 8, new Set(named).size]).toEqual([true, named.length]);
    for (const keyId of faulty) again.add(keyId);
  }
  expect(again.size).toBe(3);
});

test('the tests of a co-signer that is not configured any more are forgotten', async () => {
  await tested([1, 2, 3], [share(FIRST, 'missing')]);
  await storeShareTests(DB, [], NOW_MS);
  expect((await readShareTests(DB)).records.length).toBe(3);
  await tested([1, 2], [share(SECOND, null)]);
  expect((await readShareTests(DB)).records.map(({ node }) => node)).toEqual([1, 2]);
});
