import { afterEach, expect, test, vi } from 'vitest';
import { call, asService, coordinator, created, foundTreasury } from '../scene.worker.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Removes a table while `response` runs. Returns the response and the lines that were logged
 * meanwhile.
 */
async function without<T>(table: string, response: () => Promise<T>): Promise<readonly [T, readonly string[]]> {
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  await coordinator.DB.prepare(`ALTER TABLE ${table} RENAME TO away`).run();
  try {
    return [await response(), lines.filter((line) => line.includes('request-failed'))];
  } finally {
    await coordinator.DB.prepare(`ALTER TABLE away RENAME TO ${table}`).run();
  }
}

test('a failing database gives 503, and the log does not contain the request', async () => {
  const person = { name: 'A name used only here', email: 'nobody.else@example.com' };
  const [answer, lines] = await without('users', () => asService('POST /internal/user', person));
  expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/query failed: .*no such table: users/);
  for (const word of Object.values(person)) expect(lines[0]).not.toContain(word);
  expect((await asService('POST /internal/user', person)).status).toBe(201);
});

test('a failing batch of queries gives 503 too', async () => {
  const [answer, lines] = await without('vaults', () => asService('GET /internal/status'));
  expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
  expect(lines).toHaveLength(1);
  expect((await asService('GET /internal/status')).status).toBe(200);
});

test('a list request gives 503 while a vault cannot write a record, and lists the record afterwards', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const line = `GET /vault/${treasury.id}/transactions`;
  const [[record, answer], lines] = await without('transactions', async () => {
    const { body } = await created(treasury, { note: 'this note stays private' });
    return [body, await call(line, { token })] as const;
  });
  expect([answer.status, answer.body['code']]).toEqual([503, 'unavailable']);
  expect(lines.join()).not.toContain('this note stays private');
  const { body } = await call(line, { token });
  expect(body['transactions'].map(({ id }: { id: string }) => id)).toContain(record['id']);
});
