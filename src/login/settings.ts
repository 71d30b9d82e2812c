import * as z from 'zod';
import { parseJsonSetting } from '#domain/json-setting.ts';

const settings = z.strictObject({
  issuer: z.url().refine(isSafe, 'is https, or http on this machine'),
  clientId: z.string().min(1).max(512),
  /** Absent for a public client: PKCE alone. */
  clientSecret: z.string().min(1).max(512).optional(),
});

/** Who says who somebody is: an issuer of OpenID Connect, and what this service is there. */
export type LoginSettings = z.infer<typeof settings>;

/** The LOGIN setting; null when it is empty. Throws for one that is not exactly that, without saying what stands in it. */
export function loginSettings(setting: string | undefined): LoginSettings | null {
  if (setting === undefined || setting.trim() === '') return null;
  const parsed = settings.safeParse(parseJsonSetting('LOGIN', setting));
  if (!parsed.success) throw new Error(`LOGIN: ${parsed.error.issues[0]?.path.join('.') ?? ''} is wrong`);
  return parsed.data;
}

function isSafe(text: string): boolean {
  const { protocol } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(text));
}

export function isLoopback(text: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(text).hostname);
}
