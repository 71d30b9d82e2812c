import { expect, test } from 'vitest';
import { VaultCommit } from '#objects/vault-commit.ts';
import type { VaultStorage } from '#objects/vault-storage.ts';

/** What of a commit happens in which turn. */

function newCommit(setAlarm: (atMs: number) => Promise<void>) {
  const told: string[] = [];
  const storage = { transactionSync: (writes: () => void) => writes(), setAlarm } as unknown as DurableObjectStorage;
  const rows = { nextDueAtMs: () => 5, forget: () => told.push('forgotten') } as unknown as VaultStorage;
  return { told, commit: new VaultCommit(storage, rows, () => told.push('heard')) };
}

test('memory changes in the turn of the writes, before anybody waits for the alarm: nobody goes on with what was', async () => {
  let ring = () => {};
  const { told, commit } = newCommit(() => new Promise((resolve) => (ring = resolve)));
  const running = commit.run(
    () => told.push('written'),
    () => told.push('remembered'),
  );
  expect(told).toEqual(['written', 'remembered']);
  ring();
  await running;
  expect(told).toEqual(['written', 'remembered', 'heard']);
});

test('what could not be written is not remembered', async () => {
  const { told, commit } = newCommit(async () => {});
  const failing = commit.run(
    () => {
      throw new Error('the disk is full');
    },
    () => told.push('remembered'),
  );
  await expect(failing).rejects.toThrow('the disk is full');
  expect(told).toEqual(['forgotten']);
});

test('an alarm whose clock is ahead rings once too early, and then when it should', async () => {
  const aheadMs = 60_000;
  const set: number[] = [];
  const { commit } = newCommit(async (atMs) => void set.push(atMs));
  // Set for one minute from now, it rings at once: over there it is that late already.
  await commit.armAt(aheadMs);
  commit.rung(0);
  await commit.armAt(aheadMs);
  expect(set).toEqual([aheadMs, 2 * aheadMs]);
  // And as it should, it goes on so.
  commit.rung(aheadMs);
  await commit.armAt(2 * aheadMs);
  // Set right over there, it comes as much too late, and that once.
  commit.rung(3 * aheadMs);
  await commit.armAt(4 * aheadMs);
  expect(set.slice(2)).toEqual([3 * aheadMs, 4 * aheadMs]);
});
