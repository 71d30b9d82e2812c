import * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { isSecureAddress } from '#domain/secure-address.ts';

const settings = z.strictObject({
  issuer: z.url().refine(isSecureAddress, 'is https, or http on this machine'),
  clientId: z.string().min(1).max(512),
  /** Absent for a public client: PKCE alone. */
  clientSecret: z.string().min(1).max(512).optional(),
});

/** An OpenID Connect identity provider, and this service's client there. */
export type LoginSettings = z.infer<typeof settings>;

/**
 * Returns the LOGIN setting, or null when it is empty. Throws for any other form, without the
 * setting's content.
 */
export function loginSettings(setting: string | undefined): LoginSettings | null {
  if (setting === undefined || setting.trim() === '') return null;
  const parsed = settings.safeParse(parseJsonSetting('LOGIN', setting));
  if (!parsed.success) throw new Error(`LOGIN: ${parsed.error.issues[0]?.path.join('.') ?? ''} is wrong`);
  return parsed.data;
}
