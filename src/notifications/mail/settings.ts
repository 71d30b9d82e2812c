import * as z from 'zod';
import { settingValue } from '#notifications/setting-value.ts';

const sender = z.string().regex(/^[^\s@<>"]{1,64}@[a-z0-9.-]{1,253}$/i, 'Must be an e-mail address.');

const settings = z.discriminatedUnion('provider', [
  z.strictObject({ provider: z.literal('cloudflare'), from: sender, dashboard: z.url() }),
  z.strictObject({ provider: z.literal('postmark'), from: sender, dashboard: z.url(), token: z.string().min(1) }),
]);

/** Who sends e-mail, and the origin of the dashboard that its links open. */
export type MailSettings = z.infer<typeof settings>;

/**
 * Returns the EMAIL_NOTIFICATIONS setting, or null when it is empty. Throws for any other form,
 * without the setting's content.
 */
export function mailSettings(setting: string | undefined): MailSettings | null {
  const value = settingValue('EMAIL_NOTIFICATIONS', settings, setting);
  if (value === null) return null;
  const { origin, protocol } = new URL(value.dashboard);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new Error(`EMAIL_NOTIFICATIONS: The value of 'dashboard' is not valid.`);
  }
  return { ...value, dashboard: origin };
}
