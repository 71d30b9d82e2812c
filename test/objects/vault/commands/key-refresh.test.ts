import { expect, test, vi } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import { accepted, refused } from '#domain/result.ts';
import type { KeyRefresh } from '#domain/vault/vault.ts';
import type { RefreshReport } from '#objects/vault/commands/key-refresh.ts';
import { giveUpRefresh, refreshWork, reportRefresh, requestRefresh } from '#objects/vault/commands/key-refresh.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { present } from '../../../chains/evm/cast.ts';
import { OPERATOR } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Covers what the steps of a key refresh store in a vault, in any order and however often they are
 * reported.
 */

const KEY = present(parseKeyId('a'.repeat(26)));
const OTHER = present(parseKeyId('b'.repeat(26)));

/** Returns a vault with two keys. */
function newScene() {
  const { storage, host } = newVaultScene();
  const before = host.vault();
  if (before === null) throw new Error('the scene has a vault');
  const [first] = before.keys;
  host.replaceVault({
    ...before,
    keys: [present(first), { ...present(first), keyId: OTHER, scheme: 'frost-ed25519' }],
  });
  const lines = () => historyOf(storage).filter((line) => line.startsWith('key-refreshed'));
  /** Reports like a run of the job that has read the refresh which is due now. */
  const report = (progressed: RefreshReport) =>
    reportRefresh(host, {
      refresh: refreshWork(host)?.refresh ?? { keyId: KEY, requestId: 'none' },
      report: progressed,
    });
  return { host, report, storage, lines, sharesOf: (i: number) => host.vault()?.keys[i]?.publicShares };
}

const refresh = (change: Partial<KeyRefresh> = {}): KeyRefresh => ({
  keyId: KEY,
  scheme: 'ecdsa-secp256k1',
  requestId: 'one',
  begun: { epoch: 1, setups: ['x'] },
  provenBy: [],
  ...change,
});
const progress = (change: Partial<KeyRefresh> = {}): RefreshReport => ({ type: 'progress', refresh: refresh(change) });

/** Returns the history entries of refreshes, the newest last. */
const historyOf = (storage: VaultStorage) =>
  storage.history.after(0, 100).map(({ action, detail }) => `${action} ${detail}`);
const DONE: RefreshReport = { type: 'refreshed', epoch: 2, publicShares: { '1': '03' } };

test('a key of the vault is refreshed once, and the refresh of another key waits for it', async () => {
  const { host, report, storage } = newScene();
  expect(refreshWork(host)).toBeNull();
  expect([
    await requestRefresh(host, OPERATOR, { keyId: KEY }),
    await requestRefresh(host, OPERATOR, { keyId: KEY }),
    await requestRefresh(host, OPERATOR, { keyId: OTHER }),
  ]).toEqual([true, true, true]);
  expect(await requestRefresh(host, OPERATOR, { keyId: 'c'.repeat(26) })).toBe(false);
  expect(refreshWork(host)).toMatchObject({ key: { keyId: KEY }, refresh: { begun: null }, underWay: [KEY, OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).toMatchObject({ tries: 0 });
  await report(progress());
  await report(DONE);
  expect(refreshWork(host)).toMatchObject({ key: { keyId: OTHER }, underWay: [OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).not.toBeNull();
  await report(DONE);
  expect([refreshWork(host), storage.queuedJob('', 'refresh-key')]).toEqual([null, null]);
});

test('of two simultaneous runs the earlier one is kept, and the proofs of both count', async () => {
  const { host, report } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress());
  await report(progress({ begun: { epoch: 1, setups: ['y'] }, provenBy: ['2:1+2'] }));
  await report(progress({ begun: null, provenBy: ['2:1+3'] }));
  const { requestId = '' } = refreshWork(host)?.refresh ?? {};
  expect(refreshWork(host)?.refresh).toMatchObject(refresh({ requestId, provenBy: ['2:1+2', '2:1+3'] }));
});

test('the newest epoch that each co-signer was seen to use is kept, whatever an older run reports', async () => {
  const { host, report } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress());
  expect(refreshWork(host)?.refresh.brought).toBeUndefined();
  await report(progress({ brought: { '1': 2, '2': 3 } }));
  await report(progress({ brought: { '2': 2, '3': 3 } }));
  await report(progress());
  expect(refreshWork(host)?.refresh.brought).toEqual({ '1': 2, '2': 3, '3': 3 });
});

test('many steps of a refresh without a result in a row wait between each other', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { host, report, storage } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  const waitsMs = async (change: Partial<KeyRefresh>) => {
    await report(progress(change));
    return (storage.queuedJob('', 'refresh-key')?.dueAtMs ?? 0) - Date.now();
  };
  await report(progress());
  for (let step = 0; step < 16; step++) expect(await waitsMs({})).toBe(0);
  expect(await waitsMs({})).toBeGreaterThan(0);
  expect(await waitsMs({ provenBy: ['2:1+2'] })).toBe(0);
  vi.useRealTimers();
});

test('unusable shares are set aside, and the next step is not due at once', async () => {
  const { host, report, storage } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress());
  storage.completeJob('', 'refresh-key');
  await report({ type: 'set-aside', refresh: refresh({ begun: { epoch: 2, setups: ['x'] } }) });
  expect(refreshWork(host)?.refresh.begun?.epoch).toBe(2);
  // A late report does not change the epoch back.
  await report({ type: 'set-aside', refresh: refresh() });
  expect([refreshWork(host)?.refresh.begun?.epoch, storage.queuedJob('', 'refresh-key')]).toEqual([2, null]);
});

test('the public shares change once, only with the last step, and only for the refreshed key', async () => {
  const { host, report, lines, sharesOf } = newScene();
  await report(DONE);
  expect([sharesOf(0), lines()]).toEqual([{}, []]);
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress({ provenBy: ['2:1+2'] }));
  expect(sharesOf(0)).toEqual({});
  await report(DONE);
  await report(DONE);
  expect([sharesOf(0), sharesOf(1), lines()]).toEqual([{ '1': '03' }, {}, [`key-refreshed ${KEY} 2`]]);
});

test('a refresh is given up with a history entry that names the epoch, and its job ends', async () => {
  const { host, report, storage } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress({ provenBy: ['2:1+2', '3:1+2'] }));
  expect(await giveUpRefresh(host, OPERATOR, { keyId: KEY })).toEqual(accepted(null));
  expect([refreshWork(host), storage.queuedJob('', 'refresh-key')]).toEqual([null, null]);
  expect(historyOf(storage)).toEqual([`key-refresh ${KEY}`, `key-refresh-given-up ${KEY} 3`]);
});

test('a refresh that is given up again, or was never requested, is accepted and leaves no history entry', async () => {
  const { host, storage } = newScene();
  expect(await giveUpRefresh(host, OPERATOR, { keyId: KEY })).toEqual(accepted(null));
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  expect([
    await giveUpRefresh(host, OPERATOR, { keyId: KEY }),
    await giveUpRefresh(host, OPERATOR, { keyId: KEY }),
  ]).toEqual([accepted(null), accepted(null)]);
  expect(historyOf(storage)).toEqual([`key-refresh ${KEY}`, `key-refresh-given-up ${KEY}`]);
});

test('the refresh of another key goes on when one is given up', async () => {
  const { host, storage } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await requestRefresh(host, OPERATOR, { keyId: OTHER });
  await giveUpRefresh(host, OPERATOR, { keyId: KEY });
  expect(refreshWork(host)).toMatchObject({ key: { keyId: OTHER }, underWay: [OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).not.toBeNull();
});

test('a refresh cannot be given up once co-signers may use its shares, whatever an older run reports', async () => {
  const { host, report, storage } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  await report(progress({ activating: 2 }));
  await report(progress({ activating: 1 }));
  await report(progress({ provenBy: ['2:1+2'] }));
  expect(await giveUpRefresh(host, OPERATOR, { keyId: KEY })).toEqual(refused('key-refresh-activating'));
  expect(refreshWork(host)?.refresh).toMatchObject({ activating: 2 });
  expect([storage.queuedJob('', 'refresh-key') === null, historyOf(storage)]).toEqual([false, [`key-refresh ${KEY}`]]);
});

test('a late report revives no refresh that was given up, and changes no later refresh of the same key', async () => {
  const { host, storage, sharesOf } = newScene();
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  const { refresh: former } = present(refreshWork(host));
  await giveUpRefresh(host, OPERATOR, { keyId: KEY });
  const late = [progress({ activating: 2 }), progress({ provenBy: ['2:1+2'] }), DONE];
  for (const report of late) await reportRefresh(host, { refresh: former, report });
  expect([refreshWork(host), storage.queuedJob('', 'refresh-key'), sharesOf(0)]).toEqual([null, null, {}]);
  await requestRefresh(host, OPERATOR, { keyId: KEY });
  for (const report of late) await reportRefresh(host, { refresh: former, report });
  expect(refreshWork(host)?.refresh).toMatchObject({ begun: null, provenBy: [] });
  expect([refreshWork(host)?.refresh.activating, sharesOf(0)]).toEqual([undefined, {}]);
});
