import { afterEach, expect, test, vi } from 'vitest';
import { checkStored, limitedEnv, limitedFetch } from './limited-bindings.ts';
import { limitedHandlers } from './limited-worker.ts';
import type { Limit } from './limits.ts';
import { LimitExceeded, LIMITS, meterHere, within } from './limits.ts';
import { memorySql } from '../objects/memory-sql.ts';

/** Each limit is met exactly without an error, and exceeded by one with its name. */

vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => {
  meterHere().exceeded.length = 0;
});

const statement = { bind: () => statement, run: async () => ({}) };
const env = limitedEnv({
  DB: { prepare: () => statement, batch: async () => [] } as unknown as D1Database,
  SIGNING_QUEUE: { send: async () => {}, sendBatch: async () => {} } as unknown as Queue,
  VAULT: { getByName: () => ({ query: async (given: unknown) => given }) } as unknown as DurableObjectNamespace,
  COSIGNER_1: { fetch: async () => new Response() } as unknown as Fetcher,
});

const text = (bytes: number) => 'x'.repeat(bytes);
const repeated = async (times: number, run: () => Promise<unknown>) => {
  for (let i = 0; i < times; i++) await run();
};
const messages = (count: number, bytes: number) => Array.from({ length: count }, () => ({ body: text(bytes - 2) }));
const stub = () => env.VAULT.getByName('vault:1') as unknown as { query: (given: unknown) => Promise<unknown> };
const service = (headers: Record<string, string> = {}) => env.COSIGNER_1.fetch('http://cosigner', { headers });
const parameters = (count: number) => Array.from({ length: count }, () => 1);

/** Uses a number of each limit, in one invocation. */
const USES: Readonly<Record<Exclude<Limit, 'open connections'>, (amount: number) => Promise<unknown>>> = {
  'service calls': (amount) => repeated(amount, () => service()),
  subrequests: (amount) => repeated(amount, () => stub().query(1)),
  'D1 statements': (amount) => env.DB.batch(Array.from({ length: amount }, () => env.DB.prepare('SELECT 1'))),
  'bytes of a queue message': (amount) => env.SIGNING_QUEUE.send(text(amount - 2)),
  'messages of a queue batch': (amount) => env.SIGNING_QUEUE.sendBatch(messages(amount, 10)),
  'bytes of a queue batch': (amount) =>
    env.SIGNING_QUEUE.sendBatch([...messages(2, 100_000), { body: text(amount - 200_000 - 2) }]),
  'parameters of a statement': async (amount) => env.DB.prepare('SELECT 1').bind(...parameters(amount)),
  'bytes of a statement': async (amount) => env.DB.prepare(text(amount)),
  // A list of one text costs seventeen bytes beside the text.
  'bytes of a row': async (amount) => env.DB.prepare('SELECT ?').bind(text(amount - 9)),
  'bytes of a stored value': async (amount) => checkStored(text(amount)),
  'bytes of a call': (amount) => stub().query(text(amount - 9)),
  // A name, a value, a colon, a space and the end of the line.
  'bytes of headers': (amount) => service({ a: text(amount - 5) }),
};

test.each(Object.entries(USES))('the limit of %s', async (name, use) => {
  const limit = LIMITS[name as Limit];
  await within('a test', () => use(limit));
  expect(meterHere().exceeded).toEqual([]);
  const refused = within('a test', async () => use(limit + 1));
  await expect(refused).rejects.toThrow(LimitExceeded);
  expect(meterHere().exceeded).toEqual([`a test: ${limit + 1} ${name}, and the platform has ${limit}`]);
});

test('a seventh request to other servers waits for one of six, in each invocation', async () => {
  const open: (() => void)[] = [];
  const send = () =>
    limitedFetch(new Headers(), () => new Promise<Response>((answer) => void open.push(() => answer(new Response()))));
  const all = within('a test', () => Promise.all(Array.from({ length: 8 }, send)));
  const other = within('another', send);
  await vi.waitFor(() => expect(open).toHaveLength(7));
  open.shift()?.();
  await vi.waitFor(() => expect(open).toHaveLength(7));
  while (open.length > 0) {
    open.shift()?.();
    await Promise.resolve();
    await new Promise((turn) => void setImmediate(turn));
  }
  expect((await Promise.all([all, other])).flat()).toHaveLength(9);
});

test('the next invocation begins at zero, and the SQL of an object is checked too', async () => {
  for (let i = 0; i < 3; i++) await within('a test', () => repeated(LIMITS['service calls'], () => service()));
  expect(() => memorySql().exec('SELECT 1', ...parameters(101))).toThrow(LimitExceeded);
});

test('each event of a Worker is one invocation, also with too large headers', async () => {
  const worker = limitedHandlers<typeof env>({ fetch: async () => new Response() });
  const request = new Request('http://conclave.test/vault/1', { headers: { a: text(LIMITS['bytes of headers']) } });
  expect(() => worker.fetch?.(request as never, env, {} as ExecutionContext)).toThrow(
    'GET /vault/*: 131077 bytes of headers',
  );
});
