import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { announceAlerts, announceUnstored } from '#jobs/operations/announce-alerts.ts';
import { acknowledgeAlert, addAlert, settleAlerts } from '#store/operations/alerts.ts';
import { asService, coordinator } from '../../http/scene.worker.ts';

/** Covers that each alert reaches the receiver once, whatever the receiver answers meanwhile. */

const { DB } = coordinator;
const ALERT_WEBHOOK = JSON.stringify({ form: 'slack', url: 'https://chat.test/secret' });
const MINUTE_MS = 60_000;

beforeEach(async () => {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  await DB.prepare('DELETE FROM alerts').run();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs the announcements against a receiver that answers so. Returns what it got, and the log. */
async function announcedTo(answer: (text: string) => number | null, env: object = { DB, ALERT_WEBHOOK }) {
  const got: string[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { body: string }) => {
    const [title = '', , , id = ''] = (JSON.parse(body) as { text: string }).text.split('\n');
    const text = `${title.slice(1).split(/[:(]/)[0]?.trim()} ${id.slice(5, -1)}`;
    const status = answer(text);
    got.push(text);
    if (status === null) throw new TypeError('network');
    return new Response(null, { status });
  });
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  await announceAlerts(env as Parameters<typeof announceAlerts>[0], Date.now());
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();
  expect(lines.join()).not.toContain('secret');
  return { got, events: lines.map((line) => (JSON.parse(line) as { event: string; fault?: string }).event) };
}

const raise = (subject: string, atMs = 0) => addAlert(DB, { code: 'trace-unavailable', subject, detail: 'd' }, atMs);
const accepting = () => announcedTo(() => 200);

test('the receiver gets each state of an alert once', async () => {
  await raise('a');
  expect((await accepting()).got).toEqual(['Alert trace-unavailable:a']);
  expect((await accepting()).got).toEqual([]);
  await acknowledgeAlert(DB, 'trace-unavailable:a', MINUTE_MS);
  expect((await accepting()).got).toEqual(['Acknowledged trace-unavailable:a']);
  await settleAlerts(DB, { codes: ['trace-unavailable'], found: [] }, 2 * MINUTE_MS);
  expect((await accepting()).got).toEqual(['Resolved trace-unavailable:a']);
  expect((await accepting()).got).toEqual([]);
});

test('an alert that the receiver does not accept is sent again, and one that it refuses holds up no other', async () => {
  await raise('a', 0);
  await raise('b', 1);
  for (const status of [500, 503, 429, 302, null])
    expect(await announcedTo(() => status)).toEqual({
      got: ['Alert trace-unavailable:a'],
      events: ['alert-not-accepted'],
    });
  const refused = await announcedTo((text) => (text.endsWith('a') ? 400 : 200));
  expect(refused.got).toEqual(['Alert trace-unavailable:a', 'Alert trace-unavailable:b']);
  expect((await accepting()).got).toEqual(['Alert trace-unavailable:a']);
});

test('without a receiver nothing is sent, and a receiver that is added later gets what is open', async () => {
  await raise('a');
  expect(await announcedTo(() => 200, { DB })).toEqual({ got: [], events: [] });
  expect((await accepting()).got).toEqual(['Alert trace-unavailable:a']);
});

test('a wrong setting and a failing D1 are logged and stop nothing else', async () => {
  expect((await announcedTo(() => 200, { DB, ALERT_WEBHOOK: 'secret' })).events).toEqual(['alerts-not-announced']);
  const failing = {
    prepare: () => {
      throw new Error('D1_ERROR: no such table: alerts');
    },
  };
  expect((await announcedTo(() => 200, { DB: failing, ALERT_WEBHOOK })).events).toEqual(['alerts-not-announced']);
});

test('an alert that D1 cannot store reaches the receiver', async () => {
  const got: string[] = [];
  vi.stubGlobal('fetch', async (url: string, { body }: { body: string }) => {
    got.push(`${url} ${(JSON.parse(body) as { text: string }).text.split('\n')[1]}`);
    return new Response(null, { status: 200 });
  });
  const env = { ...coordinator, ALERT_WEBHOOK };
  await announceUnstored(
    env,
    { code: 'sweep-step-failed', detail: 'Steps of the sweep that failed: all.' },
    Date.now(),
  );
  expect(got).toEqual(['https://chat.test/secret Steps of the sweep that failed: all.']);
});
