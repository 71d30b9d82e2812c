import { expect, test } from 'vitest';
import { logShare } from '#domain/operations/log-share.ts';

test('the share of log lines is a number from 0 to 1, and none without the setting', () => {
  const shares = [undefined, '', ' ', '0', '0.25', '1', '1.0'].map(logShare);
  expect(shares).toEqual([0, 0, 0, 0, 0.25, 1, 1]);
  for (const wrong of ['2', '1.1', '-1', '.5', '1e-3', 'all', '0,5', '0.1234567'])
    expect(() => logShare(wrong)).toThrow('LOG_SHARE must be a number from 0 to 1.');
});
