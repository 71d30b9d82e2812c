import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pollUntil } from '#local/stack/poll.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('polling returns the first result, and leaves no timer running', async () => {
  const answers = [null, null, 'here'];
  const found = pollUntil('answer', async () => answers.shift() ?? null, 1_000);
  await vi.advanceTimersByTimeAsync(500);
  expect(await found).toBe('here');
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['gives nothing', async () => null, 'No answer within 1000 ms'],
  ['never ends', () => new Promise<null>(() => {}), 'No answer within 1000 ms: the last probe has not ended'],
])('polling with a probe that %s ends with an error that names its condition', async (_, probe, message) => {
  const refused = expect(pollUntil('answer', probe, 1_000)).rejects.toThrow(new Error(message));
  await vi.advanceTimersByTimeAsync(20_000);
  await refused;
  expect(vi.getTimerCount()).toBe(0);
});
