import { generateKeyPairSync } from 'node:crypto';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';

/**
 * The keys by which push services recognize an application server (VAPID, RFC 8292), in base64url.
 */
export interface PushKeys {
  /** A `mailto:` or `https:` address of the operator. */
  readonly subject: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Returns new keys. A browser that subscribed under other keys gets no notification under them. */
export function newPushKeys(subject: string): PushKeys {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { subject, publicKey: point.toString('base64url'), privateKey: d };
}

/**
 * Prints the WEB_PUSH setting with new keys. Create them only once: a browser that subscribed under
 * other keys gets no further notification.
 */
export const pushKeysCommand: Command = {
  usage:
    '  npm run --silent conclave -- push-keys mailto:you@example.com     the address of the operator, mailto: or https://',
  run: async ([subject = '', ...rest]) => {
    if (rest.length > 0 || !/^(mailto:|https:\/\/)./.test(subject)) {
      throw new UsageError('Provide the address of the operator, for example mailto:you@example.com.');
    }
    console.log(JSON.stringify(newPushKeys(subject)));
  },
};
