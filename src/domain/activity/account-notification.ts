import type { Notification } from '#domain/activity/notification.ts';
import type { UserId } from '#domain/id.ts';
import { visibleText } from '#domain/visible-text.ts';

/** The events of an access token of which its owner is notified. */
export const CREDENTIAL_EVENTS = ['token-created', 'token-rotated', 'token-new-address'] as const;

export interface CredentialEvent {
  readonly kind: (typeof CREDENTIAL_EVENTS)[number];
  /** The address of the client; null when it is not known. */
  readonly address: string | null;
}

/**
 * Returns the notification of an event of an access token, for its owner.
 *
 * @param token with the name that its creator gave it
 */
export function notificationOfCredential(
  { kind, address }: CredentialEvent,
  { userId, name }: { readonly userId: UserId; readonly name: string },
): Notification {
  const [title, event] = TEXTS[kind];
  const from = address === null ? '' : ` from ${address}`;
  const body = `The access token "${visibleText(name)}" ${event}${from}. If you did not expect this, end the token.`;
  return { kind: 'account', userIds: [userId], title, body };
}

const TEXTS = {
  'token-created': ['New access token', 'was created'],
  'token-rotated': ['Access token rotated', 'was rotated'],
  'token-new-address': ['Access token used from a new address', 'was used'],
} as const;
