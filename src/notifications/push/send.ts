import { buildPushPayload } from '@block65/webcrypto-web-push';
import { isInboxKind } from '#domain/activity/notification.ts';
import { isPushService } from '#notifications/push/settings.ts';
import type { PushSettings } from '#notifications/push/settings.ts';

/** A user's browser. */
export interface Recipient {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

export interface PushMessage {
  readonly title: string;
  readonly body: string;
  /**
   * The subject of the notification: a transaction, a policy change or a credential reset. A later
   * message about the same one replaces an earlier one.
   */
  readonly transactionId: string;
  /** Null for an event of an account. */
  readonly vaultId: number | null;
  readonly kind: string;
}

/** `gone`: the browser is no longer subscribed. `failed`: it was not sent this time. */
export type PushOutcome = 'sent' | 'gone' | 'failed';

const TIMEOUT_MS = 10_000;
/** A notification is useless after this time. */
const TTL_SECONDS = 60 * 60;
/**
 * A credential reset can be cancelled and a policy change rejected for a day and longer, and a
 * phone may be switched off at night.
 */
const CONTROL_TTL_SECONDS = 3 * 24 * 60 * 60;
/** RFC 8030 part 5.4: characters of base64url, at most 32. */
const TOPIC_LENGTH = 32;

/**
 * Sends one message to one browser, encrypted for it alone (RFC 8291) and signed by this service
 * (RFC 8292). Never throws: a failed notification must not affect anything else.
 */
export async function sendPush(settings: PushSettings, to: Recipient, message: PushMessage): Promise<PushOutcome> {
  const { endpoint, p256dh, auth } = to;
  // Checked again: the list of services may be shorter than at the time of the subscription.
  if (!isPushService(settings, endpoint)) return 'gone';
  try {
    const topic = message.transactionId.replace(/[^A-Za-z0-9_-]/g, '').slice(-TOPIC_LENGTH);
    const isControl = isInboxKind(message.kind);
    const urgency = isControl || message.kind === 'approval' ? 'high' : 'normal';
    const ttl = isControl ? CONTROL_TTL_SECONDS : TTL_SECONDS;
    const payload = await buildPushPayload(
      { data: { ...message }, options: { ttl, topic, urgency } },
      { endpoint, expirationTime: null, keys: { p256dh, auth } },
      settings,
    );
    const response = await fetch(endpoint, { ...payload, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return 'gone';
    return response.ok ? 'sent' : 'failed';
  } catch {
    return 'failed';
  }
}
