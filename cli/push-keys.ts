import { generateKeyPairSync } from 'node:crypto';

/** The keys by which push services know a service again (VAPID, RFC 8292), in base64url. */
export interface PushKeys {
  /** A `mailto:` or `https:` address of the operator. */
  readonly subject: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

/** New ones. A browser that has subscribed under others is not reached by them. */
export function newPushKeys(subject: string): PushKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { subject, publicKey: point.toString('base64url'), privateKey: d };
}
