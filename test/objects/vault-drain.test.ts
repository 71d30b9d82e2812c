import { expect, test } from 'vitest';
import type { CoordinatorEnv, JobMessage } from '#objects/environment.ts';
import type { OutboxJob } from '#objects/outbox.ts';
import { drainDue } from '#objects/vault-drain.ts';
import { newVaultScene } from './vault-scene.ts';

/** Which queue a job goes to, and what becomes of telling people where nobody can be told. */

const JOBS: readonly OutboxJob[] = ['sign', 'broadcast', 'settle', 'confirm', 'follow', 'notify'];

async function drained(isTelling: boolean) {
  const { storage, sql } = newVaultScene({ isTelling });
  for (const job of JOBS) storage.owe({ transactionId: `of-${job}`, job, version: 1, dueAtMs: 5, tries: 0 });
  storage.owe({ transactionId: '', job: 'reconcile', version: 0, dueAtMs: 5, tries: 0 });
  storage.owe({ transactionId: 'later', job: 'sign', version: 1, dueAtMs: 50, tries: 0 });
  const sent: Record<string, string[]> = {};
  const queue = (name: string) => ({
    sendBatch: async (batch: readonly { readonly body: JobMessage }[]) => {
      sent[name] = batch.map(({ body }) => body.job);
    },
  });
  const env = {
    SIGNING_QUEUE: queue('signing'),
    CONFIRMATION_QUEUE: queue('confirmation'),
    NOTIFICATION_QUEUE: queue('notification'),
  } as unknown as CoordinatorEnv;
  await drainDue({ storage, env, vaultId: 7, nowMs: 10 });
  const left = sql.exec<{ job: string; due_at_ms: number }>('SELECT job, due_at_ms FROM outbox').toArray();
  return { sent, left };
}

test('looking at chains does not wait behind signing, nor anything behind telling people', async () => {
  const { sent, left } = await drained(true);
  const sorted = Object.fromEntries(Object.entries(sent).map(([name, jobs]) => [name, jobs.toSorted()]));
  expect(sorted).toEqual({
    signing: ['broadcast', 'settle', 'sign'],
    confirmation: ['confirm', 'follow', 'reconcile'],
    notification: ['notify'],
  });
  // A row stays until its effect is recorded, and is sent again when none comes.
  expect(left).toHaveLength(JOBS.length + 2);
  expect(left.filter(({ due_at_ms: due }) => due === 5)).toEqual([]);
});

test('where nothing is configured to tell people, nothing is owed to them', async () => {
  const { sent, left } = await drained(false);
  expect([Object.keys(sent).toSorted(), left.some(({ job }) => job === 'notify')]).toEqual([
    ['confirmation', 'signing'],
    false,
  ]);
});
