import { expect, test } from 'vitest';
import { mailSettings } from '#notifications/mail/settings.ts';

/** Covers the setting of e-mails. */

const VALID = {
  provider: 'postmark',
  from: 'conclave@example.com',
  dashboard: 'https://conclave.example.com/a',
  token: 'secret',
};

test('an empty setting sends nothing, and a valid one has the origin of the dashboard', () => {
  expect([mailSettings(undefined), mailSettings(' ')]).toEqual([null, null]);
  expect(mailSettings(JSON.stringify(VALID))).toEqual({ ...VALID, dashboard: 'https://conclave.example.com' });
});

test.each([
  ['not json', 'EMAIL_NOTIFICATIONS'],
  [{ ...VALID, provider: 'smtp' }, 'provider'],
  [{ ...VALID, from: 'Conclave <conclave@example.com>' }, 'from'],
  [{ ...VALID, from: 'a@example.com\nbcc: b@example.com' }, 'from'],
  [{ ...VALID, dashboard: 'conclave.example.com' }, 'dashboard'],
  [{ ...VALID, dashboard: 'ftp://conclave.example.com' }, 'dashboard'],
  [{ ...VALID, token: '' }, 'token'],
  [{ ...VALID, provider: 'cloudflare' }, 'token'],
])('%j is refused with the name of the field, and without its value', (setting, name) => {
  const text = typeof setting === 'string' ? setting : JSON.stringify(setting);
  expect(() => mailSettings(text)).toThrow(name);
  expect(() => mailSettings(text)).not.toThrow('secret');
});
