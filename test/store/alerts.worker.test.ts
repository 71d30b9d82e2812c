import { env } from 'cloudflare:workers';
import { beforeEach, expect, test } from 'vitest';
import type { Alert, AlertCode } from '#domain/operations/alert.ts';
import { alertStateOf } from '#domain/operations/raised-alert.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import {
  acknowledgeAlert,
  addAlert,
  markAnnounced,
  pruneAlerts,
  readOpenAlerts,
  resolveQuietAlerts,
  settleAlerts,
  unannouncedAlerts,
} from '#store/operations/alerts.ts';

/** Covers that the receiver of alerts gets each alert once, and once that it is over. */

const { DB } = env as unknown as CoordinatorEnv;
const MINUTE_MS = 60_000;
const CODES: readonly AlertCode[] = ['cosigner-away', 'dead-letters'];
const silent = (node: number, detail = ''): Alert => ({ code: 'cosigner-away', subject: String(node), detail });

beforeEach(async () => {
  await DB.prepare('DELETE FROM alerts').run();
});

const settle = (minute: number, ...found: readonly Alert[]) =>
  settleAlerts(DB, { codes: CODES, found }, minute * MINUTE_MS);
const ack = (minute: number, id: string) => acknowledgeAlert(DB, id, minute * MINUTE_MS);

/** Announces what the receiver does not have, and returns it. */
async function announced(): Promise<readonly string[]> {
  const open = await unannouncedAlerts(DB, 10);
  for (const alert of open) await markAnnounced(DB, alert.id, alertStateOf(alert));
  return open.map((alert) => `${alert.id} ${alertStateOf(alert)}`);
}

test('an alert is announced once while it lasts, and once when it is over', async () => {
  await settle(0, silent(1), silent(2));
  expect(await announced()).toEqual(['cosigner-away:1 open', 'cosigner-away:2 open']);
  await settle(15, silent(1, 'unreachable'), silent(2));
  expect(await announced()).toEqual([]);
  const [first] = await readOpenAlerts(DB);
  expect([first?.openedAtMs, first?.seenAtMs, first?.detail]).toEqual([0, 15 * MINUTE_MS, 'unreachable']);
  await settle(30, silent(2));
  expect(await announced()).toEqual(['cosigner-away:1 resolved']);
  await settle(45, silent(2));
  expect(await announced()).toEqual([]);
});

test('a check resolves the alerts of its own codes alone', async () => {
  await settle(0, silent(1));
  await settleAlerts(DB, { codes: ['late-scans'], found: [] }, MINUTE_MS);
  expect((await readOpenAlerts(DB)).map(({ id }) => id)).toEqual(['cosigner-away:1']);
});

test('an alert that comes back begins anew, without its old acknowledgement', async () => {
  await settle(0, silent(1));
  await ack(1, 'cosigner-away:1');
  await announced();
  await settle(15);
  await announced();
  await settle(30, silent(1));
  expect(await announced()).toEqual(['cosigner-away:1 open']);
  const [alert] = await readOpenAlerts(DB);
  expect([alert?.openedAtMs, alert?.acknowledgedAtMs]).toEqual([30 * MINUTE_MS, null]);
});

test('an alert that is over before its first announcement is announced in no form', async () => {
  await settle(0, silent(1));
  await settle(15);
  expect(await announced()).toEqual([]);
});

test('an acknowledgement is announced once, keeps its first time, and needs an open alert', async () => {
  expect(await ack(0, 'cosigner-away:1')).toBeNull();
  await settle(0, silent(1));
  await announced();
  expect((await ack(3, 'cosigner-away:1'))?.acknowledgedAtMs).toBe(3 * MINUTE_MS);
  expect((await ack(9, 'cosigner-away:1'))?.acknowledgedAtMs).toBe(3 * MINUTE_MS);
  expect(await announced()).toEqual(['cosigner-away:1 acknowledged']);
  await settle(15, silent(1));
  expect(await announced()).toEqual([]);
  await settle(30);
  expect(await announced()).toEqual(['cosigner-away:1 resolved']);
  expect(await ack(31, 'cosigner-away:1')).toBeNull();
});

test('an event after the acknowledgement ends it', async () => {
  const letters = (minute: number): Alert => ({ code: 'dead-letters', detail: '', newestAtMs: minute * MINUTE_MS });
  await settle(0, letters(0));
  await ack(5, 'dead-letters');
  await announced();
  await settle(15, letters(5));
  expect(await announced()).toEqual([]);
  await settle(30, letters(16));
  expect(await announced()).toEqual(['dead-letters open']);
});

test('an alert of an event is over when it has not happened again for its time', async () => {
  const at = (minute: number, code: AlertCode) => addAlert(DB, { code, detail: '' }, minute * MINUTE_MS);
  const open = async (minute: number) => {
    await resolveQuietAlerts(DB, minute * MINUTE_MS);
    return (await readOpenAlerts(DB)).map(({ code }) => code);
  };
  await at(0, 'sweep-step-failed');
  await at(0, 'state-unreadable');
  await at(10, 'sweep-step-failed');
  expect(await open(25)).toEqual(['state-unreadable', 'sweep-step-failed'].toSorted());
  expect(await open(26)).toEqual(['state-unreadable']);
  expect(await open(24 * 60)).toEqual(['state-unreadable']);
  expect(await open(24 * 60 + 1)).toEqual([]);
});

test('an alert that is found many times a minute is written once', async () => {
  const seen = async () => (await readOpenAlerts(DB))[0]?.seenAtMs;
  for (const atMs of [0, 1, 60_000, 60_001]) await addAlert(DB, silent(1), atMs);
  expect(await seen()).toBe(60_001);
  await addAlert(DB, silent(1), 120_001);
  expect(await seen()).toBe(60_001);
});

test('resolved alerts are deleted after their time, and open ones stay', async () => {
  await settle(0, silent(1), silent(2));
  await settle(15, silent(2));
  await pruneAlerts(DB, 15 * MINUTE_MS);
  await pruneAlerts(DB, 15 * MINUTE_MS + 1);
  const { results } = await DB.prepare('SELECT id FROM alerts').all();
  expect(results).toEqual([{ id: 'cosigner-away:2' }]);
});
