import { newPushKeys } from './push-keys.ts';

/**
 * `npm run web-push-keys -- mailto:you@example.com`: draws the keys of Web Push (VAPID, RFC 8292) and prints the WEB_PUSH setting. Draw them
 * once: a browser that has subscribed under other keys is not reached any more.
 */

const subject = process.argv[2] ?? '';
if (!/^(mailto:|https:\/\/)./.test(subject)) {
  console.error('Say who operates the service: npm run web-push-keys -- mailto:you@example.com');
  process.exitCode = 1;
} else {
  console.log(JSON.stringify(newPushKeys(subject)));
}
