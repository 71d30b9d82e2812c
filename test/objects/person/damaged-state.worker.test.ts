import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { alice } from '../../domain/cast.ts';

/** Covers that state of a person's object that cannot be read is refused and not guessed. */

const { PERSON } = env as unknown as CoordinatorEnv;
let people = 0;

/** Calls the object from inside: an error that leaves it would end the test run. */
async function errorOf(damage: string, call: 'enrolment' | 'resets'): Promise<string> {
  people += 1;
  const person = PERSON.getByName(`person:damaged-${people}`);
  await person.open({ isServiceAccount: false });
  return runInDurableObject(person, (object, { storage }) => {
    storage.sql.exec(damage);
    try {
      object[call]();
      return 'none';
    } catch (error) {
      return String(error);
    }
  });
}

const issued = (kind: string, id: string) =>
  `INSERT INTO issued (grant_id, kind, credential_id) VALUES ('enrolment', '${kind}', ${id})`;

test.each([
  ['a token without an id', issued('access-token', 'NULL')],
  ['a session with a malformed id', issued('session', `'secret'`)],
  ['an identity that is neither released nor kept', issued('identity', `'secret'`)],
])('%s is refused', async (_what, damage) => {
  expect(await errorOf(damage, 'enrolment')).toBe(
    'Error: unreadable state: an issued credential of a person is damaged',
  );
});

const RESET_ID = '0'.repeat(26);
const reset = (end: string) => {
  const row = `'crs_${RESET_ID}', '${alice.userId}', 'alice', 1, 'CANCELLED', 1, 1, 2, 3, 2, ${end}`;
  return `INSERT INTO credential_reset VALUES (${row})`;
};

test.each([
  ['an unknown party', `'secret', NULL, NULL`],
  ['a malformed token', `'${alice.userId}', 'secret', NULL`],
  ['a malformed device', `'${alice.userId}', NULL, 'secret'`],
])('a reset that %s cancelled is refused', async (_who, end) => {
  expect(await errorOf(reset(end), 'resets')).toBe('Error: unreadable state: a stored credential reset is damaged');
});

test('a reset and a credential that are not damaged are read', async () => {
  expect(await errorOf(reset(`'${alice.userId}', NULL, NULL`), 'resets')).toBe('none');
  expect(await errorOf(issued('identity', 'NULL'), 'enrolment')).toBe('none');
});
