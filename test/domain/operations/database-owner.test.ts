import { expect, test } from 'vitest';
import { alertsOfDatabase, ownsDatabase } from '#domain/operations/database-owner.ts';
import { fingerprintsOf } from '#http/edge/credential-value.ts';

/** Covers which deployment a database belongs to. */

const [OLD, NEW, OTHER] = ['01'.repeat(32), '02'.repeat(32), '03'.repeat(32)];
const codes = (written: readonly string[] | null, own: readonly string[]) =>
  alertsOfDatabase(written, own).map(({ code }) => code);

test('a database belongs to a deployment that has one of the keys that wrote it', () => {
  const written = fingerprintsOf(OLD);
  expect(codes(written, fingerprintsOf(OLD))).toEqual([]);
  expect(codes(written, fingerprintsOf(`${NEW},${OLD}`))).toEqual([]);
  expect(codes(written, fingerprintsOf(NEW))).toEqual(['foreign-database']);
  expect(codes(fingerprintsOf(`${NEW}, ${OLD}`), fingerprintsOf(NEW))).toEqual([]);
  expect(codes(fingerprintsOf(`${NEW},${OLD}`), fingerprintsOf(OTHER))).toEqual(['foreign-database']);
});

test('a new database belongs to each deployment, and a refused setting raises no second alert', () => {
  expect(ownsDatabase(null, fingerprintsOf(OLD))).toBe(true);
  expect(codes(null, fingerprintsOf(OLD))).toEqual([]);
  expect(codes(fingerprintsOf(OLD), [])).toEqual([]);
});

test('a fingerprint is that of its key alone, and has no part of it', () => {
  const [first, second] = fingerprintsOf(`${OLD},${NEW}`);
  expect([first, second]).toEqual([...fingerprintsOf(OLD), ...fingerprintsOf(NEW)]);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(first).not.toContain(OLD.slice(0, 8));
});
