import { expect, test } from 'vitest';
import { DEFAULT_QUOTAS, SESSION_QUOTAS } from '#domain/access/rate-limit.ts';

test('the limits are those of the specification', () => {
  expect([DEFAULT_QUOTAS.read, DEFAULT_QUOTAS.write, DEFAULT_QUOTAS['user-profile']]).toEqual([20, 10, 300]);
  const management = [DEFAULT_QUOTAS['token-read'], DEFAULT_QUOTAS['token-update'], DEFAULT_QUOTAS['token-secret']];
  expect(management.every((quota) => quota >= 3 && quota <= 10)).toBe(true);
});

test('a session has its own limits, high enough for a person who browses pages', () => {
  expect([SESSION_QUOTAS.read, SESSION_QUOTAS.write, SESSION_QUOTAS.stream]).toEqual([300, 30, 60]);
  const stricter = Object.entries(SESSION_QUOTAS).filter(([policy, quota]) => quota < DEFAULT_QUOTAS[policy as 'read']);
  expect(stricter).toEqual([]);
});
