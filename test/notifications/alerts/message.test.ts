import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RaisedAlert } from '#domain/operations/raised-alert.ts';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import { alertRequest } from '#notifications/alerts/message.ts';
import type { AlertSettings } from '#notifications/alerts/settings.ts';
import { alertSettings } from '#notifications/alerts/settings.ts';

/** Covers the forms of alerts, with receivers that check as those of the providers do. */

const NOW_MS = Date.parse('2026-11-30T10:00:00Z');
const ROUTING_KEY = 'R0123456789ABCDEFGHIJKLMNOPQRSTU';
const SECRETS = ['a', 'b'].map((letter) => `whsec_${Buffer.from(letter.repeat(32)).toString('base64')}`);

const ALERT: RaisedAlert = {
  id: 'rpc-node-away:anvil node.test',
  code: 'rpc-node-away',
  subject: 'anvil node.test',
  detail: 'RPC node node.test of anvil gives no usable answer.',
  openedAtMs: NOW_MS - 60_000,
  seenAtMs: NOW_MS,
  resolvedAtMs: null,
  acknowledgedAtMs: null,
  announced: null,
};
const RESOLVED = { ...ALERT, resolvedAtMs: NOW_MS };
const ACKNOWLEDGED = { ...ALERT, acknowledgedAtMs: NOW_MS };

interface Call {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** What the Events API v2 of PagerDuty checks before it answers 202. */
function eventFault(event: unknown): string | null {
  if (!isJsonObject(event)) return 'no object';
  const { routing_key: key, event_action: action, dedup_key: dedup, payload } = event;
  if (typeof key !== 'string' || key.length !== 32) return 'routing_key';
  if (typeof dedup !== 'string' || dedup.length > 255) return 'dedup_key';
  if (action === 'acknowledge' || action === 'resolve') return null;
  if (action !== 'trigger' || !isJsonObject(payload)) return 'event_action';
  const { summary, source, severity } = payload;
  if (typeof summary !== 'string' || summary === '' || summary.length > 1024) return 'summary';
  if (typeof source !== 'string' || source === '') return 'source';
  return ['critical', 'error', 'warning', 'info'].includes(String(severity)) ? null : 'severity';
}

function statusOf({ path, headers, text }: Call): number {
  const body = jsonIn(text);
  if (headers['content-type'] !== 'application/json') return 415;
  if (path === '/v2/enqueue') return eventFault(body) === null ? 202 : 400;
  if (path === '/services/T0/B0/X') return isJsonObject(body) && typeof body['text'] === 'string' ? 200 : 400;
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], text].join('.');
  const macs = SECRETS.map((secret) => {
    const key = Buffer.from(secret.slice(6), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return headers['webhook-signature'] === macs.join(' ') ? 200 : 401;
}

const calls: Call[] = [];
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    const call = { path: request.url, headers: request.headers, text };
    calls.push(call);
    response.writeHead(statusOf(call)).end();
  });
});
let origin = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

function settingsOf(setting: object): AlertSettings {
  const settings = alertSettings(JSON.stringify(setting));
  if (settings === null) throw new Error('the setting is not empty');
  return settings;
}

/** Sends the alert to the receiver. Returns its status, and what it got. */
async function sent(setting: object, alert: RaisedAlert) {
  const { url, headers, body } = alertRequest(settingsOf(setting), alert, NOW_MS);
  const { status } = await fetch(url, { method: 'POST', headers, body });
  const got = calls.at(-1);
  return { status, headers: got?.headers ?? {}, body: JSON.parse(got?.text ?? '') as Record<string, unknown> };
}

const json = () => ({ form: 'json', url: `${origin}/hook`, secrets: SECRETS, source: 'treasury' });
const pagerDuty = () => ({ form: 'pagerduty', url: `${origin}/v2/enqueue`, routingKey: ROUTING_KEY });
const slack = () => ({ form: 'slack', url: `${origin}/services/T0/B0/X` });

test('the plain form is signed with each secret, and has everything of the alert', async () => {
  const { status, headers, body } = await sent(json(), ALERT);
  expect([status, headers['webhook-timestamp']]).toEqual([200, String(NOW_MS / 1000)]);
  expect(body).toEqual({
    type: 'alert.open',
    timestamp: '2026-11-30T10:00:00.000Z',
    data: {
      id: 'rpc-node-away:anvil node.test',
      code: 'rpc-node-away',
      subject: 'anvil node.test',
      severity: 'critical',
      detail: 'RPC node node.test of anvil gives no usable answer.',
      source: 'treasury',
      openedAt: '2026-11-30T09:59:00.000Z',
      acknowledgedAt: null,
      resolvedAt: null,
      runbook: 'docs/runbook.md#rpc-node-away',
    },
  });
});

test('a repeated delivery of one state has one id, and each state another one', async () => {
  const idOf = async (alert: RaisedAlert) => (await sent(json(), alert)).headers['webhook-id'];
  const [first, again] = [await idOf(ALERT), await idOf({ ...ALERT, seenAtMs: NOW_MS + 900_000 })];
  expect(again).toBe(first);
  const others = [RESOLVED, ACKNOWLEDGED, { ...ALERT, openedAtMs: NOW_MS }, { ...ALERT, newestAtMs: NOW_MS }];
  const ids = new Set([first]);
  for (const other of others) ids.add(await idOf(other));
  expect(ids.size).toBe(5);
});

test('PagerDuty gets one incident for each alert, with its acknowledgement and its end', async () => {
  const actions = [];
  for (const alert of [ALERT, ACKNOWLEDGED, RESOLVED]) {
    const { status, body } = await sent({ ...pagerDuty(), runbook: 'https://git.test/runbook.md' }, alert);
    actions.push([status, body['event_action'], body['dedup_key']]);
    expect(body['links']).toEqual([
      { href: 'https://git.test/runbook.md#rpc-node-away', text: 'Runbook: rpc-node-away' },
    ]);
  }
  const key = 'conclave/rpc-node-away:anvil node.test';
  expect(actions).toEqual([
    [202, 'trigger', key],
    [202, 'acknowledge', key],
    [202, 'resolve', key],
  ]);
  const { status } = await sent(pagerDuty(), { ...ALERT, detail: 'x'.repeat(5_000), id: 'y'.repeat(400) });
  expect(status).toBe(202);
});

test('Slack gets a text without links or mentions of the detail', async () => {
  const detail = 'Stores: <!channel> & <https://evil.test|D1>';
  const { status, body } = await sent(slack(), { ...ALERT, detail });
  expect([status, body['text']]).toEqual([
    200,
    [
      '*Alert (urgent): rpc-node-away* conclave',
      'Stores: &lt;!channel&gt; &amp; &lt;https://evil.test|D1&gt;',
      'Runbook: docs/runbook.md#rpc-node-away',
      'Id: `rpc-node-away:anvil node.test`',
    ].join('\n'),
  ]);
  const linked = await sent(
    { ...slack(), runbook: 'https://git.test/runbook.md' },
    { ...RESOLVED, code: 'late-scans' },
  );
  expect(linked.body['text']).toContain('*Resolved: late-scans*');
  expect(linked.body['text']).toContain('<https://git.test/runbook.md#late-scans|Runbook>');
});

test('an empty setting names no receiver, and a wrong one is refused without its content', () => {
  for (const nothing of [undefined, '', ' ']) expect(alertSettings(nothing)).toBeNull();
  expect(settingsOf({ form: 'pagerduty', routingKey: ROUTING_KEY })).toMatchObject({
    url: 'https://events.pagerduty.com/v2/enqueue',
  });
  for (const wrong of [
    'https://secret.test',
    JSON.stringify({ form: 'secret', url: 'https://a.test' }),
    JSON.stringify({ form: 'slack', url: 'http://secret.test' }),
    JSON.stringify({ form: 'slack', url: 'https://a.test', secret: 1 }),
    JSON.stringify({ form: 'json', url: 'https://a.test', secrets: [] }),
    JSON.stringify({ form: 'json', url: 'https://a.test', secrets: ['secret'] }),
    JSON.stringify({ form: 'pagerduty', routingKey: 'secret' }),
  ]) {
    expect(() => alertSettings(wrong)).toThrow(/^ALERT_WEBHOOK/);
    expect(() => alertSettings(wrong)).not.toThrow(/secret\.test|: secret/);
  }
});
