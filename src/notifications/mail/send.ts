import type { Notification } from '#domain/activity/notification.ts';
import type { MailSettings } from '#notifications/mail/settings.ts';

/**
 * What an e-mail says of each kind of notification. It has no amount, no address, and no text of
 * another person: providers and mail servers read it. Null for a kind that no e-mail reports:
 * anyone can cause a payment.
 */
const SUBJECTS: Readonly<Record<Notification['kind'], string | null>> = {
  approval: 'A transaction waits for your approval',
  'policy-change': 'A policy change in one of your vaults',
  vault: 'The members or the access of one of your vaults changed',
  'credential-reset': 'A credential reset in one of your vaults',
  account: 'An access token of yours was created, rotated or used from a new address',
  outcome: null,
  activity: null,
};

export interface Mail {
  readonly to: string;
  readonly kind: Notification['kind'];
}

/** The binding of the platform. */
export interface MailBinding {
  readonly send: (message: {
    readonly from: string;
    readonly to: string;
    readonly subject: string;
    readonly text: string;
  }) => Promise<unknown>;
}

const POSTMARK = 'https://api.postmarkapp.com/email';
const TIMEOUT_MS = 10_000;

/** Reports whether e-mails report notifications of a kind. */
export function isMailed(kind: Notification['kind']): boolean {
  return SUBJECTS[kind] !== null;
}

/**
 * Sends one e-mail. Throws when the provider refuses it or does not answer, without the address of
 * the recipient and without the token of the provider.
 *
 * @param binding of the platform; null where it is not bound
 */
export async function sendMail(settings: MailSettings, binding: MailBinding | null, { to, kind }: Mail): Promise<void> {
  const title = SUBJECTS[kind];
  if (title === null) return;
  const { from, dashboard } = settings;
  const subject = `Conclave: ${title}`;
  const text = `${title}.\n\nOpen your inbox: ${dashboard}/#/notifications\n\nThis message does not approve anything.\n`;
  if (settings.provider === 'cloudflare') {
    if (binding === null) throw new Error('The binding EMAIL is missing.');
    await binding.send({ from, to, subject, text });
    return;
  }
  const response = await fetch(POSTMARK, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-postmark-server-token': settings.token,
    },
    body: JSON.stringify({ From: from, To: to, Subject: subject, TextBody: text, MessageStream: 'outbound' }),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The provider must accept the e-mail, and answered ${response.status}.`);
}
