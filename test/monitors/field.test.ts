import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { monitorOf } from '#monitors/endpoint.ts';

/**
 * Covers deliveries in forms that providers have published, each with the hints that are right. The
 * values are made up.
 */

interface Delivery {
  readonly source: string;
  readonly provider: string;
  readonly hints: readonly string[];
  readonly body: unknown;
}

const folder = resolve(import.meta.dirname, 'field');
const deliveries = readdirSync(folder).map(
  (name) => [name, JSON.parse(readFileSync(resolve(folder, name), 'utf8')) as Delivery] as const,
);

test.each(deliveries)('the delivery %s gives its hints and counts as read', (_name, { provider, hints, body }) => {
  const report = monitorOf(provider)?.read(body);
  expect(report?.hints.map(({ chain, hash }) => `${chain} ${hash}`)).toEqual(hints);
  expect(report?.unread).toBeNull();
});

test('there are deliveries to read', () => {
  expect(deliveries.length).toBeGreaterThanOrEqual(8);
});
