import { expect, test, vi } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import { accepted, refused } from '#domain/result.ts';
import type { KeyRefresh, Vault } from '#domain/vault.ts';
import type { RefreshReport } from '#objects/vault/commands/key-refresh.ts';
import { KeyRefreshCommands } from '#objects/vault/commands/key-refresh.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { present } from '../../../chains/evm/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Covers what the steps of a key refresh store in a vault, in any order and however often they are
 * reported.
 */

const KEY = present(parseKeyId('a'.repeat(26)));
const OTHER = present(parseKeyId('b'.repeat(26)));

/** Returns a vault with two keys and its key refresh commands. */
function newScene() {
  const { storage, host } = newVaultScene();
  const before = host.vault();
  if (before === null) throw new Error('the scene has a vault');
  const [first] = before.keys;
  let vault: Vault = {
    ...before,
    keys: [present(first), { ...present(first), keyId: OTHER, scheme: 'frost-ed25519' }],
  };
  const lines: string[] = [];
  const commands = new KeyRefreshCommands(
    { ...host, vault: () => vault },
    async (after, { action, detail }, also = () => {}) => {
      vault = after;
      lines.push(`${action} ${detail}`);
      also();
    },
  );
  /** Reports like a run of the job that has read the refresh which is due now. */
  const report = (progressed: RefreshReport) =>
    commands.report(commands.work()?.refresh ?? { keyId: KEY, requestId: 'none' }, progressed);
  return { commands, report, storage, lines, sharesOf: (i: number) => vault.keys[i]?.publicShares };
}

const refresh = (change: Partial<KeyRefresh> = {}): KeyRefresh => ({
  keyId: KEY,
  scheme: 'ecdsa-secp256k1',
  begun: { epoch: 1, setups: ['x'] },
  provenBy: [],
  ...change,
});
const progress = (change: Partial<KeyRefresh> = {}): RefreshReport => ({ type: 'progress', refresh: refresh(change) });

/** Returns the history entries of refreshes, the newest last. */
const historyOf = (storage: VaultStorage) =>
  storage.historyAfter(0, 100).map(({ action, detail }) => `${action} ${detail}`);
const DONE: RefreshReport = { type: 'refreshed', epoch: 2, publicShares: { '1': '03' } };

test('a key of the vault is refreshed once, and the refresh of another key waits for it', async () => {
  const { commands, report, storage } = newScene();
  expect(commands.work()).toBeNull();
  expect([await commands.request(KEY), await commands.request(KEY), await commands.request(OTHER)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(await commands.request('c'.repeat(26))).toBe(false);
  expect(commands.work()).toMatchObject({ key: { keyId: KEY }, refresh: { begun: null }, underWay: [KEY, OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).toMatchObject({ tries: 0 });
  await report(progress());
  await report(DONE);
  expect(commands.work()).toMatchObject({ key: { keyId: OTHER }, underWay: [OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).not.toBeNull();
  await report(DONE);
  expect([commands.work(), storage.queuedJob('', 'refresh-key')]).toEqual([null, null]);
});

test('of two simultaneous runs the earlier one is kept, and the proofs of both count', async () => {
  const { commands, report } = newScene();
  await commands.request(KEY);
  await report(progress());
  await report(progress({ begun: { epoch: 1, setups: ['y'] }, provenBy: ['2:1+2'] }));
  await report(progress({ begun: null, provenBy: ['2:1+3'] }));
  expect(commands.work()?.refresh).toMatchObject(refresh({ provenBy: ['2:1+2', '2:1+3'] }));
});

test('many steps of a refresh without a result in a row wait between each other', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { commands, report, storage } = newScene();
  await commands.request(KEY);
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
  const { commands, report, storage } = newScene();
  await commands.request(KEY);
  await report(progress());
  storage.completeJob('', 'refresh-key');
  await report({ type: 'set-aside', refresh: refresh({ begun: { epoch: 2, setups: ['x'] } }) });
  expect(commands.work()?.refresh.begun?.epoch).toBe(2);
  // A late report does not change the epoch back.
  await report({ type: 'set-aside', refresh: refresh() });
  expect([commands.work()?.refresh.begun?.epoch, storage.queuedJob('', 'refresh-key')]).toEqual([2, null]);
});

test('the public shares change once, only with the last step, and only for the refreshed key', async () => {
  const { commands, report, lines, sharesOf } = newScene();
  await report(DONE);
  expect([sharesOf(0), lines]).toEqual([{}, []]);
  await commands.request(KEY);
  await report(progress({ provenBy: ['2:1+2'] }));
  expect(sharesOf(0)).toEqual({});
  await report(DONE);
  await report(DONE);
  expect([sharesOf(0), sharesOf(1), lines]).toEqual([{ '1': '03' }, {}, [`key-refreshed ${KEY} 2`]]);
});

test('a refresh is given up with a history entry that names the epoch, and its job ends', async () => {
  const { commands, report, storage } = newScene();
  await commands.request(KEY);
  await report(progress({ provenBy: ['2:1+2', '3:1+2'] }));
  expect(await commands.giveUp(KEY)).toEqual(accepted(null));
  expect([commands.work(), storage.queuedJob('', 'refresh-key')]).toEqual([null, null]);
  expect(historyOf(storage)).toEqual([`key-refresh ${KEY}`, `key-refresh-given-up ${KEY} 3`]);
});

test('a refresh that is given up again, or was never requested, is accepted and leaves no history entry', async () => {
  const { commands, storage } = newScene();
  expect(await commands.giveUp(KEY)).toEqual(accepted(null));
  await commands.request(KEY);
  expect([await commands.giveUp(KEY), await commands.giveUp(KEY)]).toEqual([accepted(null), accepted(null)]);
  expect(historyOf(storage)).toEqual([`key-refresh ${KEY}`, `key-refresh-given-up ${KEY}`]);
});

test('the refresh of another key goes on when one is given up', async () => {
  const { commands, storage } = newScene();
  await commands.request(KEY);
  await commands.request(OTHER);
  await commands.giveUp(KEY);
  expect(commands.work()).toMatchObject({ key: { keyId: OTHER }, underWay: [OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).not.toBeNull();
});

test('a refresh cannot be given up once co-signers may use its shares, whatever an older run reports', async () => {
  const { commands, report, storage } = newScene();
  await commands.request(KEY);
  await report(progress({ activating: 2 }));
  await report(progress({ activating: 1 }));
  await report(progress({ provenBy: ['2:1+2'] }));
  expect(await commands.giveUp(KEY)).toEqual(refused('key-refresh-activating'));
  expect(commands.work()?.refresh).toMatchObject({ activating: 2 });
  expect([storage.queuedJob('', 'refresh-key') === null, historyOf(storage)]).toEqual([false, [`key-refresh ${KEY}`]]);
});

test('a late report revives no refresh that was given up, and changes no later refresh of the same key', async () => {
  const { commands, storage, sharesOf } = newScene();
  await commands.request(KEY);
  const { refresh: former } = present(commands.work());
  await commands.giveUp(KEY);
  const late = [progress({ activating: 2 }), progress({ provenBy: ['2:1+2'] }), DONE];
  for (const report of late) await commands.report(former, report);
  expect([commands.work(), storage.queuedJob('', 'refresh-key'), sharesOf(0)]).toEqual([null, null, {}]);
  await commands.request(KEY);
  for (const report of late) await commands.report(former, report);
  expect(commands.work()?.refresh).toMatchObject({ begun: null, provenBy: [] });
  expect([commands.work()?.refresh.activating, sharesOf(0)]).toEqual([undefined, {}]);
});
