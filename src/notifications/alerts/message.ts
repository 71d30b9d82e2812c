import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RaisedAlert } from '#domain/operations/raised-alert.ts';
import { alertStateOf, isUrgent } from '#domain/operations/raised-alert.ts';
import type { AlertSettings } from '#notifications/alerts/settings.ts';

/** A request to the receiver of alerts. */
export interface AlertRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The section of the runbook, in the repository where no address of it is set. */
function runbookOf({ runbook = 'docs/runbook.md' }: AlertSettings, { code }: RaisedAlert): string {
  return `${runbook}#${code}`;
}

/** Returns the request that reports the present state of an alert in the form of the receiver. */
export function alertRequest(settings: AlertSettings, alert: RaisedAlert, nowMs: number): AlertRequest {
  const headers = { 'content-type': 'application/json', 'user-agent': 'conclave' };
  switch (settings.form) {
    case 'json': {
      const body = JSON.stringify(plainMessage(settings, alert));
      return {
        url: settings.url,
        headers: { ...headers, ...signatureOf(settings, alert, { body, nowMs }) },
        body,
      };
    }
    case 'pagerduty':
      return { url: settings.url, headers, body: JSON.stringify(pagerDutyEvent(settings, alert)) };
    case 'slack':
      return { url: settings.url, headers, body: JSON.stringify({ text: slackText(settings, alert) }) };
  }
}

function plainMessage(settings: AlertSettings, alert: RaisedAlert) {
  const { id, code, subject = null, detail } = alert;
  return {
    type: `alert.${alertStateOf(alert)}`,
    timestamp: new Date(alert.seenAtMs).toISOString(),
    data: {
      id,
      code,
      subject,
      severity: isUrgent(code) ? 'critical' : 'warning',
      detail,
      source: settings.source,
      openedAt: new Date(alert.openedAtMs).toISOString(),
      acknowledgedAt: timeOf(alert.acknowledgedAtMs),
      resolvedAt: timeOf(alert.resolvedAtMs),
      runbook: runbookOf(settings, alert),
    },
  };
}

function timeOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/**
 * The headers of Standard Webhooks 1.0: `v1,` and base64 HMAC-SHA256 over `id.timestamp.body`, one
 * for each secret. The id is that of the state and not of the attempt, so a receiver recognizes a
 * repeated delivery.
 */
function signatureOf(
  { secrets }: Extract<AlertSettings, { readonly form: 'json' }>,
  alert: RaisedAlert,
  { body, nowMs }: { readonly body: string; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const state = [alert.id, alert.openedAtMs, alert.newestAtMs ?? 0, alertStateOf(alert)].join(' ');
  const id = `alert_${bytesToHex(sha256(utf8ToBytes(state))).slice(0, 32)}`;
  const timestamp = String(Math.floor(nowMs / 1000));
  const message = utf8ToBytes(`${id}.${timestamp}.${body}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => `v1,${macOf(secret, message)}`).join(' '),
  };
}

function macOf(secret: string, message: Uint8Array): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return Buffer.from(hmac(sha256, key, message)).toString('base64');
}

const ACTIONS = { open: 'trigger', acknowledged: 'acknowledge', resolved: 'resolve' } as const;

/** An event of the Events API v2 of PagerDuty. Events with one `dedup_key` are one incident. */
function pagerDutyEvent(settings: Extract<AlertSettings, { readonly form: 'pagerduty' }>, alert: RaisedAlert) {
  const { id, code, subject, detail, openedAtMs } = alert;
  const { routingKey, source, runbook } = settings;
  return {
    routing_key: routingKey,
    event_action: ACTIONS[alertStateOf(alert)],
    // The receiver takes up to 255 characters.
    dedup_key: `${source}/${id}`.slice(0, 255),
    client: 'Conclave',
    payload: {
      // The receiver takes up to 1024 characters.
      summary: `${source}: ${detail}`.slice(0, 1024),
      source,
      severity: isUrgent(code) ? 'critical' : 'warning',
      timestamp: new Date(openedAtMs).toISOString(),
      class: code,
      ...(subject === undefined ? {} : { component: subject }),
      custom_details: { id, runbook: runbookOf(settings, alert) },
    },
    ...(runbook === undefined ? {} : { links: [{ href: runbookOf(settings, alert), text: `Runbook: ${code}` }] }),
  };
}

const HEADINGS = { open: 'Alert', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const;

/** A text for an incoming webhook of Slack. */
function slackText(settings: AlertSettings, alert: RaisedAlert): string {
  const section = runbookOf(settings, alert);
  const state = alertStateOf(alert);
  const urgency = state === 'open' && isUrgent(alert.code) ? ' (urgent)' : '';
  return [
    `*${HEADINGS[state]}${urgency}: ${escaped(alert.code)}* ${escaped(settings.source)}`,
    escaped(alert.detail),
    settings.runbook === undefined ? `Runbook: ${escaped(section)}` : `<${escaped(section)}|Runbook>`,
    `Id: \`${escaped(alert.id)}\``,
  ].join('\n');
}

/** These three characters begin links, mentions and entities in Slack. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
