import { expect, test } from 'vitest';
import type { OutboxJob } from '#objects/outbox.ts';
import { pollDelayMs, resendDelayMs, retryDelayMs } from '#objects/outbox.ts';
import { CREATED_AT_MS, transactionIn } from '../../domain/cast.ts';

test('a message without an effect is sent again without end, at intervals of up to two minutes', () => {
  const delays = (job: OutboxJob) => [0, 1, 2, 3, 4, 1000].map((tries) => resendDelayMs({ job, tries }));
  expect(delays('sign')).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 120_000]);
  expect(delays('notify')).toEqual([30_000, 60_000, 120_000, 120_000, 120_000, 120_000]);
});

test('a job that cannot run yet is retried after one second, and later every 60 to 75 seconds, depending on its id', () => {
  const delays = (transactionId: string) => [0, 1, 5, 6, 1000].map((tries) => retryDelayMs({ transactionId, tries }));
  expect(delays('')).toEqual([1_000, 2_000, 32_000, 60_000, 60_000]);
  const all = Array.from({ length: 1_000 }, (_, i) => retryDelayMs({ transactionId: `7.01M${i}Q${i}`, tries: 9 }));
  expect(Math.min(...all)).toBeGreaterThanOrEqual(60_000);
  expect(Math.max(...all)).toBeLessThanOrEqual(75_000);
  expect(new Set(all).size).toBeGreaterThan(300);
});

test('a new transaction is polled at the pace of its chain, an old one every 30 s, and a final one each minute', () => {
  const broadcast = transactionIn('BROADCAST');
  expect(pollDelayMs(broadcast, 250, CREATED_AT_MS)).toBe(250);
  expect(pollDelayMs(broadcast, 250, CREATED_AT_MS + 60_000)).toBe(6_000);
  expect(pollDelayMs(broadcast, 250, CREATED_AT_MS + 3_600_000)).toBe(30_000);
  expect(pollDelayMs(transactionIn('SUCCEEDED'), 250, CREATED_AT_MS)).toBe(60_000);
});
