import { afterEach, expect, test } from 'vitest';
import { clockText, dayText, secondsText, timeText } from '#dashboard/times.ts';

/** Covers times in zones ahead of UTC, behind it, with half hours, and with summer time. */

const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

test.each([
  ['UTC', '2026-11-03T13:21:00Z', '3 Nov 2026, 13:21 UTC'],
  ['Europe/Berlin', '2026-11-03T13:21:00Z', '3 Nov 2026, 14:21 UTC+1'],
  ['Europe/Berlin', '2026-07-03T13:21:00Z', '3 Jul 2026, 15:21 UTC+2'],
  ['America/St_Johns', '2026-01-01T02:05:00Z', '31 Dec 2025, 22:35 UTC-3:30'],
  ['Asia/Kathmandu', '2026-12-31T23:59:59Z', '1 Jan 2027, 05:44 UTC+5:45'],
])('in %s, %s is %s', (name, iso, text) => {
  process.env['TZ'] = name;
  expect(timeText(iso)).toBe(text);
});

test('the day of a remark is that of UTC, in every zone', () => {
  process.env['TZ'] = 'Pacific/Auckland';
  expect(dayText('2026-11-03T23:59:59Z')).toBe('3 November 2026');
});

test('a clock has two digits of each part', () => {
  process.env['TZ'] = 'UTC';
  const time = new Date('2026-11-03T03:01:05Z');
  expect([clockText(time), secondsText(time)]).toEqual(['03:01', '03:01:05']);
});
