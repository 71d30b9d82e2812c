import { p256 } from '@noble/curves/nist.js';
import * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';

/**
 * The push services of the browsers. A subscriber supplies the address that this service will call,
 * so it must be one of these.
 */
const SERVICES = [
  'https://fcm.googleapis.com',
  'https://updates.push.services.mozilla.com',
  'https://web.push.apple.com',
  'https://*.notify.windows.com',
];

const settings = z.strictObject({
  subject: z.string().regex(/^(mailto:|https:\/\/)/, 'Must be a mailto: or https: address of the operator.'),
  publicKey: z.string().regex(/^[A-Za-z0-9_-]{87}$/, 'Must be 65 bytes in base64url.'),
  privateKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'Must be 32 bytes in base64url.'),
  services: z.array(z.string().regex(/^https:\/\/(\*\.)?[a-z0-9.-]+(:[0-9]+)?$/)).default(SERVICES),
});

export type PushSettings = z.infer<typeof settings>;

/**
 * Returns the WEB_PUSH setting, or null when it is empty. Throws for any other form, without the
 * setting's content.
 */
export function pushSettings(setting: string | undefined): PushSettings | null {
  if (setting === undefined || setting.trim() === '') return null;
  const parsed = settings.safeParse(parseJsonSetting('WEB_PUSH', setting));
  if (!parsed.success)
    throw new Error(`WEB_PUSH: The value of '${parsed.error.issues[0]?.path.join('.') ?? ''}' is not valid.`);
  return parsed.data;
}

/** Reports whether the keys belong together: push services refuse the signatures of another key. */
export function isKeyPair({ publicKey, privateKey }: PushSettings): boolean {
  const secret = Buffer.from(privateKey, 'base64url');
  if (!p256.utils.isValidSecretKey(secret)) return false;
  return Buffer.from(p256.getPublicKey(secret, false)).toString('base64url') === publicKey;
}

export function isPushService({ services }: PushSettings, endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { origin, protocol, host, username, password } = new URL(endpoint);
  if (protocol !== 'https:' || username !== '' || password !== '') return false;
  return services.some((service) => {
    const suffix = service.replace('https://*', '');
    return service.includes('*') ? host.endsWith(suffix) && host.length > suffix.length : service === origin;
  });
}
