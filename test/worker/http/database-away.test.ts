import { expect, test, vi } from 'vitest';
import { asService, coordinator } from './scene.ts';

test('a database that fails is 503, and what was sent is in no log', async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
  const person = { name: 'Nobody else has this name', email: 'nobody.else@example.com' };
  await coordinator.DB.prepare('ALTER TABLE users RENAME TO away').run();
  const answer = await asService('POST /internal/user', person);
  await coordinator.DB.prepare('ALTER TABLE away RENAME TO users').run();
  vi.restoreAllMocks();
  expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
  expect(lines).toHaveLength(1);
  expect(String(lines[0])).toMatch(/"request-failed".*query failed: .*no such table: users/);
  for (const word of Object.values(person)) expect(String(lines[0])).not.toContain(word);
  expect((await asService('POST /internal/user', person)).status).toBe(201);
});
