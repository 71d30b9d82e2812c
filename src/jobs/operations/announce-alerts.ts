import type { Alert } from '#domain/operations/alert.ts';
import type { RaisedAlert } from '#domain/operations/raised-alert.ts';
import { alertIdOf, alertStateOf } from '#domain/operations/raised-alert.ts';
import { outgoingCall } from '#jobs/operations/outgoing-call.ts';
import { alertRequest } from '#notifications/alerts/message.ts';
import type { AlertSettings } from '#notifications/alerts/settings.ts';
import { alertSettings } from '#notifications/alerts/settings.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import { errorText } from '#store/error-text.ts';
import { markAnnounced, unannouncedAlerts } from '#store/operations/alerts.ts';

/** The others follow a minute later. */
const MAX_ANNOUNCED = 20;

type Environment = Pick<CoordinatorConfig, 'ALERT_WEBHOOK' | 'DB'>;

/**
 * Sends the alerts whose state the receiver does not have, and records that it has them. An alert
 * that it does not accept is sent again a minute later. Never throws, because the heartbeat
 * follows.
 */
export async function announceAlerts(env: Environment, nowMs: number): Promise<void> {
  try {
    const settings = alertSettings(env.ALERT_WEBHOOK);
    if (settings === null) return;
    for (const alert of await unannouncedAlerts(env.DB, MAX_ANNOUNCED)) {
      const outcome = await announce(settings, alert, nowMs);
      if (outcome === 'away') return;
      if (outcome === 'accepted') await markAnnounced(env.DB, alert.id, alertStateOf(alert));
    }
  } catch (error) {
    console.error(JSON.stringify({ event: 'alerts-not-announced', error: errorText(error) }));
  }
}

/** Sends an alert that D1 could not store. The receiver gets no end of it. Never throws. */
export async function announceUnstored(env: Environment, alert: Alert, nowMs: number): Promise<void> {
  const raised = { ...alert, id: alertIdOf(alert), openedAtMs: nowMs, seenAtMs: nowMs };
  try {
    const settings = alertSettings(env.ALERT_WEBHOOK);
    if (settings === null) return;
    await announce(settings, { ...raised, resolvedAtMs: null, acknowledgedAtMs: null, announced: null }, nowMs);
  } catch (error) {
    console.error(JSON.stringify({ event: 'alerts-not-announced', error: errorText(error) }));
  }
}

async function announce(
  settings: AlertSettings,
  alert: RaisedAlert,
  nowMs: number,
): Promise<'accepted' | 'refused' | 'away'> {
  const { url, headers, body } = alertRequest(settings, alert, nowMs);
  const { status, fault } = await outgoingCall(url, { method: 'POST', headers: { ...headers }, body });
  if (fault === null) return 'accepted';
  console.error(JSON.stringify({ event: 'alert-not-accepted', id: alert.id, fault }));
  // A receiver that refuses one alert may take the others.
  return status !== null && status >= 400 && status < 429 ? 'refused' : 'away';
}
