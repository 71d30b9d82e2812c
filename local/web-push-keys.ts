import { generateKeyPairSync } from 'node:crypto';

/**
 * `npm run web-push-keys -- mailto:you@example.com`: draws the keys of Web Push (VAPID, RFC 8292) and prints the WEB_PUSH setting. Draw them
 * once: a browser that has subscribed under other keys is not reached any more.
 */

const subject = process.argv[2] ?? '';
if (!/^(mailto:|https:\/\/)./.test(subject)) {
  console.error('Say who operates the service: npm run web-push-keys -- mailto:you@example.com');
  process.exitCode = 1;
} else {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d } = privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  console.log(JSON.stringify({ subject, publicKey: point.toString('base64url'), privateKey: d }));
}
