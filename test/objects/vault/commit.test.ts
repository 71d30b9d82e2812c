import { expect, test } from 'vitest';
import { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

/** Covers the order of the parts of a commit. */

function newCommit(setAlarm: (atMs: number) => Promise<void>) {
  const reported: string[] = [];
  const storage = { transactionSync: (writes: () => void) => writes(), setAlarm } as unknown as DurableObjectStorage;
  const rows = { nextDueAtMs: () => 5, forget: () => reported.push('forgotten') } as unknown as VaultStorage;
  return { reported: reported, commit: new VaultCommit(storage, rows, () => reported.push('heard')) };
}

test('a commit changes memory before it awaits the alarm, so no caller continues with the old state', async () => {
  let ring = () => {};
  const { reported, commit } = newCommit(() => new Promise((resolve) => (ring = resolve)));
  const running = commit.run(
    () => reported.push('written'),
    () => reported.push('remembered'),
  );
  expect(reported).toEqual(['written', 'remembered']);
  ring();
  await running;
  expect(reported).toEqual(['written', 'remembered', 'heard']);
});

test('a failed write leaves nothing in memory', async () => {
  const { reported, commit } = newCommit(async () => {});
  const failing = commit.run(
    () => {
      throw new Error('the disk is full');
    },
    () => reported.push('remembered'),
  );
  await expect(failing).rejects.toThrow('the disk is full');
  expect(reported).toEqual(['forgotten']);
});

test('an alarm with a fast clock that runs too early is set later each time, and runs fewer than twenty times', async () => {
  const aheadMs = 5_000;
  const dueAtMs = 100_000;
  const set: number[] = [];
  const { commit } = newCommit(async (atMs) => void set.push(atMs));
  let nowMs = dueAtMs - aheadMs;
  await commit.armAt(dueAtMs);
  for (let ring = 1; ring <= 100 && nowMs < dueAtMs; ring++) {
    // On the faster clock of the alarm, an alarm whose time is over runs at once.
    nowMs = Math.max(nowMs, (set.at(-1) ?? 0) - aheadMs);
    commit.onAlarm(nowMs);
    if (nowMs < dueAtMs) await commit.armAt(dueAtMs);
  }
  expect(set.length).toBeLessThan(20);
  expect(nowMs).toBeLessThan(dueAtMs + aheadMs);
  // The last alarm was not too early, so the next one is set for its exact time.
  await commit.armAt(dueAtMs + 7);
  expect(set.at(-1)).toBe(dueAtMs + 7);
});

test('an alarm that runs after a much later one was set delays the next alarm by one millisecond', async () => {
  const set: number[] = [];
  const { commit } = newCommit(async (atMs) => void set.push(atMs));
  await commit.armAt(10);
  commit.disarm();
  await commit.armAt(3_600_000);
  commit.onAlarm(10);
  await commit.armAt(11);
  expect(set).toEqual([10, 3_600_000, 12]);
});
