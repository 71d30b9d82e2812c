import { expect, test } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import type { KeyRefresh, Vault } from '#domain/vault.ts';
import type { RefreshReport } from '#objects/vault/commands/key-refresh.ts';
import { KeyRefreshCommands } from '#objects/vault/commands/key-refresh.ts';
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
  return { commands, storage, lines, sharesOf: (i: number) => vault.keys[i]?.publicShares };
}

const refresh = (change: Partial<KeyRefresh> = {}): KeyRefresh => ({
  keyId: KEY,
  scheme: 'ecdsa-secp256k1',
  begun: { epoch: 1, setups: ['x'] },
  provenBy: [],
  ...change,
});
const progress = (change: Partial<KeyRefresh> = {}): RefreshReport => ({ type: 'progress', refresh: refresh(change) });
const DONE: RefreshReport = { type: 'refreshed', epoch: 2, publicShares: { '1': '03' } };

test('a key of the vault is refreshed once, and the refresh of another key waits for it', async () => {
  const { commands, storage } = newScene();
  expect(commands.work()).toBeNull();
  expect([await commands.request(KEY), await commands.request(KEY), await commands.request(OTHER)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(await commands.request('c'.repeat(26))).toBe(false);
  expect(commands.work()).toMatchObject({ key: { keyId: KEY }, refresh: { begun: null }, underWay: [KEY, OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).toMatchObject({ tries: 0 });
  await commands.report(KEY, progress());
  await commands.report(KEY, DONE);
  expect(commands.work()).toMatchObject({ key: { keyId: OTHER }, underWay: [OTHER] });
  expect(storage.queuedJob('', 'refresh-key')).not.toBeNull();
  await commands.report(OTHER, DONE);
  expect([commands.work(), storage.queuedJob('', 'refresh-key')]).toEqual([null, null]);
});

test('of two simultaneous runs the earlier one is kept, and the proofs of both count', async () => {
  const { commands } = newScene();
  await commands.request(KEY);
  await commands.report(KEY, progress());
  await commands.report(KEY, progress({ begun: { epoch: 1, setups: ['y'] }, provenBy: ['2:1+2'] }));
  await commands.report(KEY, progress({ begun: null, provenBy: ['2:1+3'] }));
  expect(commands.work()?.refresh).toEqual(refresh({ provenBy: ['2:1+2', '2:1+3'] }));
});

test('unusable shares are set aside, and the next step is not due at once', async () => {
  const { commands, storage } = newScene();
  await commands.request(KEY);
  await commands.report(KEY, progress());
  storage.completeJob('', 'refresh-key');
  await commands.report(KEY, { type: 'set-aside', refresh: refresh({ begun: { epoch: 2, setups: ['x'] } }) });
  expect(commands.work()?.refresh.begun?.epoch).toBe(2);
  // A late report does not change the epoch back.
  await commands.report(KEY, { type: 'set-aside', refresh: refresh() });
  expect([commands.work()?.refresh.begun?.epoch, storage.queuedJob('', 'refresh-key')]).toEqual([2, null]);
});

test('the public shares change once, only with the last step, and only for the refreshed key', async () => {
  const { commands, lines, sharesOf } = newScene();
  await commands.report(KEY, DONE);
  expect([sharesOf(0), lines]).toEqual([{}, []]);
  await commands.request(KEY);
  await commands.report(KEY, progress({ provenBy: ['2:1+2'] }));
  expect(sharesOf(0)).toEqual({});
  await commands.report(KEY, DONE);
  await commands.report(KEY, DONE);
  expect([sharesOf(0), sharesOf(1), lines]).toEqual([{ '1': '03' }, {}, [`key-refreshed ${KEY} 2`]]);
});
