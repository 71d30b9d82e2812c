import { expect, test } from 'vitest';
import { isLargeEnough, reviewedMs } from '#approval-page/sign/review-time.ts';

const seen = { isFocused: true, isLargeEnough: true, isRead: true };

test('the time counts while the details are in view, and starts again after a break', () => {
  let time = 0;
  for (let tick = 0; tick < 9; tick += 1) time = reviewedMs(time, 100, seen);
  expect(time).toBe(900);
  for (const missing of ['isFocused', 'isLargeEnough', 'isRead']) {
    expect(reviewedMs(time, 100, { ...seen, [missing]: false })).toBe(0);
  }
});

test('a page whose timers were suspended gains one tick', () => {
  expect(reviewedMs(0, 60_000, seen)).toBe(100);
});

test.each<[string, boolean, [number, number], [number, number]]>([
  ['a popup of the dashboard', true, [560, 860], [1920, 1080]],
  ['the smallest popup', true, [500, 600], [1920, 1080]],
  ['a low popup', false, [560, 300], [1920, 1080]],
  ['a narrow popup', false, [300, 860], [1920, 1080]],
  ['a phone, which is narrower', true, [390, 844], [390, 844]],
  ['a part of a phone', false, [390, 300], [390, 844]],
  ['a phone in landscape', true, [844, 390], [844, 390]],
])('%s is large enough: %s', (_name, expected, [width, height], [screenWidth, screenHeight]) => {
  expect(isLargeEnough({ width, height }, { width: screenWidth, height: screenHeight })).toBe(expected);
});
