import { expect, test } from 'vitest';
import { newUserId, parseTokenId } from '#domain/id.ts';
import { deleteIdentities, userOfIdentity } from '#store/identities.ts';
import { deleteSessions, insertSession, sessionsBefore, sessionsOf } from '#store/sessions.ts';
import { insertUser } from '#store/users.ts';
import { coordinator } from '../http/scene.worker.ts';

/** Covers the identity of a user as an issuer states it. */

const ISSUER = 'https://issuer.example';
const NOW_MS = 1_790_000_000_000;
const { DB } = coordinator;

async function enter(email: string) {
  const id = newUserId(NOW_MS, crypto.getRandomValues(new Uint8Array(10)));
  const { user } = await insertUser(DB, { id, name: 'somebody', email, createdAtMs: NOW_MS });
  return user;
}

const identity = (subject: string, verifiedEmail: string | null, issuer = ISSUER) => ({
  issuer,
  subject,
  verifiedEmail,
});

test('a person is recognised by the verified email address at the first login, and by the subject afterwards', async () => {
  const email = 'alice@login.example';
  const alice = await enter(email);
  expect(await userOfIdentity(DB, identity('a-1', null), NOW_MS)).toBeNull();
  expect(await userOfIdentity(DB, identity('a-1', 'nobody@example.com'), NOW_MS)).toBeNull();
  expect((await userOfIdentity(DB, identity('a-1', email), NOW_MS))?.id).toBe(alice.id);
  // The issuer gave the address to another account, or reports it as not verified any more. The
  // person is still the same.
  for (const changed of [null, 'alice@elsewhere.example']) {
    expect((await userOfIdentity(DB, identity('a-1', changed), NOW_MS))?.id).toBe(alice.id);
  }
  expect(await userOfIdentity(DB, identity('a-2', email), NOW_MS)).toBeNull();
  // Another issuer is a different identity.
  const elsewhere = identity('a-1', email, 'https://other.example');
  expect((await userOfIdentity(DB, elsewhere, NOW_MS))?.id).toBe(alice.id);
  await deleteIdentities(DB, alice.id);
  expect((await userOfIdentity(DB, identity('a-2', email), NOW_MS))?.id).toBe(alice.id);
  expect(await userOfIdentity(DB, identity('a-1', email), NOW_MS)).toBeNull();
});

test("one of two users who log in at once with one email address gets that person's account", async () => {
  const bob = await enter('bob@login.example');
  const subjects = Array.from({ length: 8 }, (_, i) => `b-${i}`);
  const found = await Promise.all(
    subjects.map((subject) => userOfIdentity(DB, identity(subject, 'bob@login.example'), NOW_MS)),
  );
  expect(found.filter((user) => user?.id === bob.id)).toHaveLength(1);
});

test('the list of sessions holds only the sessions that may still be valid', async () => {
  const carol = await enter('carol@login.example');
  const ids = ['0', '1', '2'].map((digit) => parseTokenId(digit.repeat(16)));
  for (const [i, id] of ids.entries()) {
    if (id !== null) await insertSession(DB, { id, userId: carol.id, createdAtMs: NOW_MS + i });
  }
  expect(await sessionsOf(DB, carol.id, NOW_MS + 1)).toEqual(ids.slice(1));
  const old = await sessionsBefore(DB, { beforeMs: NOW_MS + 2, limit: 10 });
  expect(old).toEqual(ids.slice(0, 2));
  await deleteSessions(DB, old);
  expect(await sessionsOf(DB, carol.id, 0)).toEqual(ids.slice(2));
});
