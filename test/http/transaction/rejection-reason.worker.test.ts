import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import type { Answer, Person } from '../scene.worker.ts';
import { anotherToken, asPerson, call, created, foundTreasury, stored } from '../scene.worker.ts';

/** Covers the reason of a rejection, of a transaction and of a policy change. */

const REASON = 'Paid last week, “twice” 🧾';
const LONGEST = '🔑'.repeat(500);
const PUT = ['\u0000', 'two\nlines', '\u202Eevil', '\u2066hidden', '\u2028', '\uD800', '🔑'.repeat(501)];

const post = (person: Person, path: string, body?: object) => asPerson(person, `POST ${path}`, body);

async function read(person: Person, path: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`GET ${path}`, { token });
}

/** Creates a vault with a pending policy change that two of three signers can reject. */
async function newChange() {
  const treasury = await foundTreasury();
  const changes = `/vault/${treasury.id}/policy-change`;
  const { body } = await post(treasury.alice, changes, { threshold: 3 });
  return { treasury, changes, path: `${changes}/${body['id']}`, id: String(body['id']) };
}

test('the reason of a rejected transaction is in its record, in lists and in the history', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const path = `/transaction/${body['id']}`;
  const rejected = await post(treasury.bob, `${path}/reject`, { reason: REASON });
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
  expect(rejected.body['rejection']).toMatchObject({ userId: treasury.bob.id, device: null, reason: REASON });
  expect((await read(treasury.victor, path)).body['rejection'].reason).toBe(REASON);
  const list = await read(treasury.victor, `/vault/${treasury.id}/transactions`);
  expect(list.body['transactions'][0].rejection.reason).toBe(REASON);
  const { history } = (await read(treasury.victor, `${path}/history`)).body as { history: HistoryEntry[] };
  expect(history.map(({ action, reason, detail }) => [action, reason, detail])).toEqual([
    ['create', null, null],
    ['reject', 'REJECTED_BY_SIGNER', REASON],
  ]);
});

test.each<[string, object | undefined]>([
  ['no body', undefined],
  ['an empty object', {}],
  ['null', { reason: null }],
])('a rejection with %s has no reason', async (_name, body) => {
  const { treasury, path } = await newChange();
  const { id } = (await created(treasury)).body;
  const rejected = await post(treasury.bob, `/transaction/${id}/reject`, body);
  expect([rejected.status, rejected.body['state'], rejected.body['rejection'].reason]).toEqual([200, 'REJECTED', null]);
  const changed = await post(treasury.bob, `${path}/reject`, body);
  expect([changed.status, changed.body['rejections'][0].reason]).toEqual([200, null]);
});

test('a repeated rejection keeps the first reason, also when it had none', async () => {
  const { treasury, path } = await newChange();
  for (const first of [REASON, null]) {
    const { id } = (await created(treasury)).body;
    await post(treasury.bob, `/transaction/${id}/reject`, { reason: first });
    const before = await stored(treasury);
    const again = await post(treasury.bob, `/transaction/${id}/reject`, { reason: 'Another one' });
    expect([again.status, again.body['alreadyCounted'], again.body['rejection'].reason]).toEqual([200, true, first]);
    expect(await stored(treasury)).toEqual(before);
  }
  await post(treasury.bob, `${path}/reject`, { reason: REASON });
  const again = await post(treasury.bob, `${path}/reject`, { reason: 'Another one' });
  expect([again.status, again.body['rejections'].length, again.body['rejections'][0].reason]).toEqual([200, 1, REASON]);
});

test('a reason with characters that a note cannot have, or that is too long, is refused and changes nothing', async () => {
  const { treasury, path } = await newChange();
  const { id } = (await created(treasury)).body;
  const before = await stored(treasury);
  for (const target of [`/transaction/${id}`, path]) {
    for (const reason of PUT) {
      const refused = await post(treasury.bob, `${target}/reject`, { reason });
      expect([refused.status, refused.body['code']]).toEqual([400, 'invalid-request']);
      expect(refused.body['errors']).toMatchObject([{ pointer: '/reason' }]);
    }
    const odd = await post(treasury.bob, `${target}/reject`, { reason: 'fine', note: 'unknown' });
    expect(odd.body['errors']).toMatchObject([{ pointer: '/note', code: 'unknown-field' }]);
  }
  expect(await stored(treasury)).toEqual(before);
  const rejected = await post(treasury.bob, `/transaction/${id}/reject`, { reason: LONGEST });
  expect(rejected.body['rejection'].reason).toBe(LONGEST);
});

test('each rejection of a policy change has its own reason, and the history of the vault has them', async () => {
  const { treasury, path, id } = await newChange();
  await post(treasury.bob, `${path}/reject`, { reason: 'Too many' });
  // The newest decision counts: an approval removes the rejection with its reason.
  const withdrawn = await post(treasury.bob, `${path}/approve`);
  expect(withdrawn.body['rejections']).toEqual([]);
  await post(treasury.bob, `${path}/reject`, { reason: REASON });
  const rejected = await post(treasury.carol, `${path}/reject`);
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
  const { body } = await read(treasury.victor, path);
  expect(body['rejections']).toMatchObject([
    { userId: treasury.bob.id, reason: REASON },
    { userId: treasury.carol.id, reason: null },
  ]);
  const page = (await read(treasury.victor, `/vault/${treasury.id}/history`)).body as { history: HistoryEntry[] };
  const lines = page.history.filter(({ action }) => action === 'reject-policy');
  expect(lines.map(({ actor, detail }) => [actor?.userId, detail])).toEqual([
    [treasury.bob.id, `${id} Too many`],
    [treasury.bob.id, `${id} ${REASON}`],
    [treasury.carol.id, id],
  ]);
});

test('a reason stands beside a device signature, and half a signature is refused', async () => {
  const treasury = await foundTreasury();
  const changes = `/vault/${treasury.id}/policy-change`;
  const phone = ScriptDevice.create();
  const added = (await post(treasury.alice, changes, { addDevices: [phone.enrolment(treasury.bob.id)] })).body;
  for (const name of ['alice', 'bob'] as const) await post(treasury[name], `${changes}/${added['id']}/approve`);
  const { id, rejection } = (await post(treasury.alice, changes, { threshold: 3 })).body;
  const path = `${changes}/${id}/reject`;
  const signature = phone.sign(rejection.digest);
  const { keyId, signature: bytes } = signature;
  const halves: [object, string][] = [
    [{ keyId, reason: REASON }, '/signature'],
    [{ signature: bytes, reason: REASON }, '/keyId'],
  ];
  for (const [half, pointer] of halves) {
    const refused = await post(treasury.bob, path, half);
    expect([refused.status, refused.body['errors'][0].pointer]).toEqual([400, pointer]);
  }
  expect((await read(treasury.victor, `${changes}/${id}`)).body['rejections']).toEqual([]);
  const rejected = await post(treasury.bob, path, { ...signature, reason: REASON });
  expect(rejected.body['rejections']).toMatchObject([{ device: { keyId, signature: bytes }, reason: REASON }]);
});
