import { expect, test } from 'vitest';
import { isPushService, pushSettings } from '#notifications/push/settings.ts';

/** Covers which addresses from browsers the service calls: only those of push services. */

const keys = {
  subject: 'mailto:operator@example.com',
  publicKey: 'B'.repeat(87),
  privateKey: 'a'.repeat(43),
};
const settings = pushSettings(JSON.stringify(keys));
if (settings === null) throw new Error('the setting must parse');

test('no member is notified if the keys are not configured', () => {
  expect([pushSettings(undefined), pushSettings(' ')]).toEqual([null, null]);
});

test.each([
  'https://fcm.googleapis.com/fcm/send/x',
  'https://updates.push.services.mozilla.com/wpush/v2/x',
  'https://web.push.apple.com/x',
  'https://wns2-par02p.notify.windows.com/w/?token=x',
])('%s is accepted as the address of a push service', (endpoint) =>
  expect(isPushService(settings, endpoint)).toBe(true),
);

test.each([
  'http://fcm.googleapis.com/x',
  'https://fcm.googleapis.com:444/x',
  'https://fcm.googleapis.com.evil.example/x',
  'https://evil.example/fcm.googleapis.com',
  'https://fcm.googleapis.com@evil.example/',
  'https://user@fcm.googleapis.com/',
  'https://notify.windows.com/x',
  'https://evilnotify.windows.com/x',
  'https://127.0.0.1/x',
  'file:///etc/passwd',
  'nowhere',
])('the setting %s is invalid', (endpoint) => expect(isPushService(settings, endpoint)).toBe(false));

test.each([
  ['no JSON', '{'],
  ['no subject', JSON.stringify({ ...keys, subject: 'operator' })],
  ['half a key', JSON.stringify({ ...keys, publicKey: 'B' })],
  ['a service without TLS', JSON.stringify({ ...keys, services: ['http://push.test'] })],
  ['a field too many', JSON.stringify({ ...keys, extra: 1 })],
])('the service does not start with a setting that has %s, and the error repeats no key', (_name, setting) => {
  expect(() => pushSettings(setting)).toThrow(/^WEB_PUSH/);
  expect(() => pushSettings(setting)).not.toThrow(/BBBB|aaaa/);
});
