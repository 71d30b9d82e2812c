import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { parseUserId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readDevices } from '#http/encode/device-signature.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import type { Answer, RequestOptions, Person, Treasury } from '../scene.worker.ts';
import { anotherToken, call, asService, coordinator, created, enter, foundTreasury, stored } from '../scene.worker.ts';

/** Covers how people enrol devices, and which signatures count from then on. */

const code = ({ status, body }: Answer) => [status, body['code']];

/** Sends a request with a new token, so that no test reaches a rate limit. */
async function as(person: Person, line: string, options: RequestOptions = {}): Promise<Answer> {
  return call(line, { ...options, token: (await anotherToken(person)).token });
}

interface Devices {
  readonly alice: ScriptDevice;
  readonly bob: ScriptDevice;
  readonly carol: ScriptDevice;
}

const newDevices = (): Devices => {
  return { alice: ScriptDevice.create(), bob: ScriptDevice.create(), carol: ScriptDevice.create() };
};
const NAMES = ['alice', 'bob', 'carol'] as const;
const enrolments = (treasury: Treasury, devices: Devices) =>
  NAMES.map((name) => devices[name].enrolment(treasury[name].id));

/** Creates a vault whose signers have one device each, and in which only device approvals count. */
async function deviceTreasury(): Promise<{ treasury: Treasury; devices: Devices }> {
  const [treasury, devices] = [await foundTreasury(), newDevices()];
  // The co-signers are unreachable in this test, so the change names no co-signer keys.
  const patch = { approvalMode: 'device', addDevices: enrolments(treasury, devices), cosigners: null };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  for (const name of NAMES) await approveChange(treasury, name, proposed, devices);
  return { treasury, devices };
}

async function approveChange(treasury: Treasury, name: (typeof NAMES)[number], proposed: Answer, devices?: Devices) {
  const { id, digest } = proposed.body;
  const signature = devices?.[name].sign(digest);
  const line = `POST /vault/${treasury.id}/policy-change/${id}/approve`;
  return as(treasury[name], line, signature === undefined ? {} : { body: signature });
}

async function policyOf(treasury: Treasury): Promise<Answer['body']> {
  return (await as(treasury.victor, `GET /vault/${treasury.id}/policy`)).body['policy'];
}

test('devices are enrolled, and begin to count, only with the approval of each of them', async () => {
  const [treasury, devices] = [await foundTreasury(), newDevices()];
  // The co-signers are unreachable in this test, so the change names no co-signer keys.
  const patch = { approvalMode: 'device', addDevices: enrolments(treasury, devices), cosigners: null };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  expect([proposed.status, proposed.body['policy'].approvalMode]).toEqual([201, 'device']);
  expect(await policyOf(treasury)).toMatchObject({ version: 1, approvalMode: 'token', devices: [] });
  // Each device that begins to count signs, so approvals by token do not suffice.
  expect(code(await approveChange(treasury, 'alice', proposed))).toEqual([403, 'device-signature-required']);
  expect(code(await approveChange(treasury, 'alice', proposed, newDevices()))).toEqual([
    403,
    'device-signature-refused',
  ]);
  for (const name of NAMES) {
    expect(await policyOf(treasury)).toMatchObject({ version: 1, approvalMode: 'token' });
    expect((await approveChange(treasury, name, proposed, devices)).status).toBe(200);
  }
  const policy = await policyOf(treasury);
  expect(policy).toMatchObject({ version: 2, approvalMode: 'device' });
  expect(policy['devices'].map(({ userId }: { userId: string }) => userId).toSorted()).toEqual(
    NAMES.map((name) => treasury[name].id).toSorted(),
  );
  expect(policy['devices'][0]).toMatchObject({ algorithm: 'ed25519', credentialId: null, rpId: null, origin: null });
});

test('a transaction is approved only by device signatures', async () => {
  const { treasury, devices } = await deviceTreasury();
  const { id } = (await created(treasury)).body;
  const answer = await as(treasury.alice, `GET /transaction/${id}/challenge`);
  const { digest } = answer.body;
  const own = devices.alice.asDevice(treasury.alice.id);
  expect(answer.body).toMatchObject({ policy: { approvalMode: 'device' }, devices: [{ keyId: own.keyId }] });
  const before = await stored(treasury);
  const approve = (name: (typeof NAMES)[number], body?: object) =>
    as(treasury[name], `POST /transaction/${id}/approve`, body === undefined ? {} : { body });
  expect(code(await approve('alice'))).toEqual([403, 'device-signature-required']);
  expect(code(await approve('alice', {}))).toEqual([403, 'device-signature-required']);
  const right = devices.alice.sign(digest);
  const wrong: [object, string][] = [
    [devices.alice.sign('d1'.repeat(32)), 'wrong-signature'],
    [{ ...right, keyId: devices.bob.asDevice(treasury.bob.id).keyId }, 'unknown-device'],
    [ScriptDevice.create().sign(digest), 'unknown-device'],
    [{ ...right, clientDataJSON: 'AAAA' }, 'malformed'],
    [{ ...right, signature: 'AAAA' }, 'malformed'],
  ];
  for (const [body, fault] of wrong) {
    const refused = await approve('alice', body);
    expect([...code(refused), refused.body['fault']]).toEqual([403, 'device-signature-refused', fault]);
  }
  // A device signature that another signer sends is refused.
  expect(code(await approve('bob', right))).toEqual([403, 'device-signature-refused']);
  expect(await stored(treasury)).toEqual(before);

  const first = await approve('alice', right);
  expect([first.status, first.body['state'], first.body['approvalsCounted']]).toEqual([200, 'SUBMITTED', 1]);
  const again = await approve('alice', right);
  expect([again.status, again.body['alreadyCounted']]).toEqual([200, true]);
  const second = await approve('bob', devices.bob.sign(digest));
  expect([second.body['state'], second.body['approvals'][0]]).toEqual([
    'SIGNING',
    {
      userId: treasury.alice.id,
      digest,
      device: { ...right, authenticatorData: null, clientDataJSON: null },
      at: second.body['approvals'][0].at,
    },
  ]);
  const { history } = (await as(treasury.alice, `GET /transaction/${id}/history`)).body;
  const approvals = history.filter(({ action }: { action: string }) => action === 'approve');
  expect(approvals.map(({ detail }: { detail: string }) => detail)).toEqual([
    own.keyId,
    devices.bob.asDevice(treasury.bob.id).keyId,
  ]);
});

test.each<[string, unknown]>([
  ['no name', { signature: 'AAAA' }],
  ['a malformed name', { keyId: 'dev_1', signature: 'AAAA' }],
  ['no signature', { keyId: `dev_${'0'.repeat(32)}` }],
  ['hex in place of base64url', { keyId: `dev_${'0'.repeat(32)}`, signature: '+/==' }],
  ['an unknown field', { keyId: `dev_${'0'.repeat(32)}`, signature: 'AAAA', digest: '00' }],
  ['a list', []],
  ['a word', 'approve'],
])('an approval whose body has %s is not valid', async (_name, body) => {
  const treasury = await foundTreasury();
  const { id } = (await created(treasury)).body;
  expect((await call(`POST /transaction/${id}/approve`, { token: treasury.alice.token, body })).status).toBe(400);
});

test('a device signature is optional in approval mode token, but an invalid one is refused', async () => {
  const [treasury, device] = [await foundTreasury(), ScriptDevice.create()];
  const patch = { addDevices: [device.enrolment(treasury.alice.id)] };
  const proposed = await as(treasury.bob, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  for (const name of NAMES.slice(0, 2)) await approveChange(treasury, name, proposed);
  const { id, digest } = (await created(treasury)).body;
  const line = `POST /transaction/${id}/approve`;
  const wrong = device.sign('d1'.repeat(32));
  expect(code(await as(treasury.alice, line, { body: wrong }))).toEqual([403, 'device-signature-refused']);
  const right = await as(treasury.alice, line, { body: device.sign(digest) });
  expect([right.status, right.body['approvals'][0].device.keyId]).toEqual([
    200,
    device.asDevice(treasury.alice.id).keyId,
  ]);
  expect((await as(treasury.bob, line)).body['state']).toBe('SIGNING');
});

test('approvals by token are dropped when devices begin to count', async () => {
  const [treasury, devices] = [await foundTreasury(), newDevices()];
  const { id, digest } = (await created(treasury)).body;
  await as(treasury.alice, `POST /transaction/${id}/approve`);
  // The co-signers are unreachable in this test, so the change names no co-signer keys.
  const patch = { approvalMode: 'device', addDevices: enrolments(treasury, devices), cosigners: null };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  for (const name of NAMES) await approveChange(treasury, name, proposed, devices);
  const { body } = await as(treasury.alice, `GET /transaction/${id}`);
  expect([body['state'], body['approvals'], body['approvalsCounted']]).toEqual(['SUBMITTED', [], 0]);
  for (const name of ['alice', 'carol'] as const) {
    await as(treasury[name], `POST /transaction/${id}/approve`, {
      body: devices[name].sign(digest),
    });
  }
  expect((await as(treasury.alice, `GET /transaction/${id}`)).body['state']).toBe('SIGNING');
});

test('a change back to token mode requires device approvals of a quorum', async () => {
  const { treasury, devices } = await deviceTreasury();
  const proposed = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { approvalMode: 'token' });
  for (const name of NAMES) {
    expect(code(await approveChange(treasury, name, proposed))).toEqual([403, 'device-signature-required']);
  }
  // This signature is over the hash of the policy, and not over the digest of the change.
  const { hash } = proposed.body['policy'];
  const line = `POST /vault/${treasury.id}/policy-change/${proposed.body['id']}/approve`;
  const misled = devices.alice.sign(hash);
  expect(code(await as(treasury.alice, line, { body: misled }))).toEqual([403, 'device-signature-refused']);
  expect((await policyOf(treasury))['approvalMode']).toBe('device');
  for (const name of ['carol', 'bob'] as const) await approveChange(treasury, name, proposed, devices);
  expect(await policyOf(treasury)).toMatchObject({ version: 3, approvalMode: 'token' });
});

test('a lost device is replaced by one change, and its signatures do not count from then on', async () => {
  const { treasury, devices } = await deviceTreasury();
  const { id, digest } = (await created(treasury)).body;
  const line = `POST /transaction/${id}/approve`;
  await as(treasury.bob, line, { body: devices.bob.sign(digest) });
  const lost = devices.bob.asDevice(treasury.bob.id).keyId;
  const phone = new Authenticator(parsedUser(treasury.bob.id));
  const { algorithm, publicKey, credentialId, rpId, origin } = phone.passkey;
  const described = { userId: treasury.bob.id, algorithm, publicKey, credentialId, rpId, origin };
  const patch = { removeDevices: [lost], addDevices: [{ ...described, proof: phone.proof() }] };
  const proposed = await as(treasury.bob, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  expect([proposed.status, proposed.body['code']]).toEqual([201, undefined]);
  for (const name of ['alice', 'carol'] as const) await approveChange(treasury, name, proposed, devices);
  expect((await as(treasury.bob, `GET /transaction/${id}`)).body['approvals']).toEqual([]);
  const old = devices.bob.sign(digest);
  expect(code(await as(treasury.bob, line, { body: old }))).toEqual([403, 'device-signature-refused']);
  const signature = await as(treasury.bob, line, { body: phone.sign(digest) });
  expect([signature.status, signature.body['approvals'][0].device.keyId]).toEqual([200, phone.passkey.keyId]);
});

test('a passkey is accepted only for the approval pages, and refused if the service has no approval page', async () => {
  const { alice } = await foundTreasury();
  const phone = new Authenticator(parsedUser(alice.id));
  const { algorithm, publicKey, credentialId, rpId, origin } = phone.passkey;
  const list = [{ userId: alice.id, algorithm, publicKey, credentialId, rpId, origin, proof: phone.proof() }];
  const [own, other] = [origin ?? '', 'https://approve.example.com'];
  for (const pages of [[own], [own, other], [other, own]]) {
    expect(await readDevices(list, '/devices', pages)).toMatchObject({ ok: true });
  }
  for (const pages of [[], [other], [other, 'https://approve.example.org']]) {
    expect(await readDevices(list, '/devices', pages)).toMatchObject({
      ok: false,
      refusal: [{ pointer: '/devices/0/origin', code: 'invalid' }],
    });
  }
});

test('an invalid device is refused with its invalid field, and no change is proposed', async () => {
  const { treasury, devices } = await deviceTreasury();
  const [fresh, alices] = [ScriptDevice.create(), devices.alice.enrolment(treasury.alice.id)];
  const enrolled = fresh.enrolment(treasury.alice.id);
  const cases: [object, string][] = [
    [{ addDevices: [{ ...enrolled, userId: 'nobody' }] }, '/addDevices/0/userId'],
    [{ addDevices: [{ ...enrolled, publicKey: `01${'00'.repeat(31)}` }] }, '/addDevices/0/publicKey'],
    [{ addDevices: [enrolled, { ...enrolled, origin: 'https://example.com' }] }, '/addDevices/1/origin'],
    // A proof of possession is valid for one person only.
    [{ addDevices: [{ ...enrolled, userId: treasury.bob.id }] }, '/addDevices/0/proof'],
    [{ addDevices: [{ ...enrolled, proof: alices.proof }] }, '/addDevices/0/proof'],
    [{ addDevices: [fresh.enrolment(treasury.victor.id)] }, '/addDevices'],
    [{ addDevices: [alices] }, '/addDevices'],
    [{ removeDevices: [devices.alice.asDevice(treasury.alice.id).keyId] }, '/approvalMode'],
    [{ removeDevices: [fresh.asDevice(treasury.alice.id).keyId] }, '/removeDevices'],
    [{ removeDevices: ['dev_1'] }, '/removeDevices/0'],
    [{ approvalMode: 'nobody' }, '/approvalMode'],
  ];
  for (const [body, pointer] of cases) {
    const refused = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body });
    expect([body, refused.status, refused.body['errors']?.[0]?.pointer]).toEqual([body, 400, pointer]);
  }
  expect((await as(treasury.alice, `GET /vault/${treasury.id}/policy-change`)).body['policyChanges']).toHaveLength(1);
});

test('a removed signer loses the devices too', async () => {
  const { treasury, devices } = await deviceTreasury();
  const patch = { signers: [treasury.alice.id, treasury.bob.id] };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  const own = await approveChange(treasury, 'carol', proposed, devices);
  expect([own.status, own.body['code']]).toEqual([403, 'removed-by-change']);
  for (const name of ['alice', 'bob'] as const) await approveChange(treasury, name, proposed, devices);
  const { devices: left } = await policyOf(treasury);
  expect(left.map(({ userId }: { userId: string }) => userId).toSorted()).toEqual(
    [treasury.alice.id, treasury.bob.id].toSorted(),
  );
});

test('simultaneous approvals all count, and a repeated one counts once', async () => {
  const { treasury, devices } = await deviceTreasury();
  const { id, digest } = (await created(treasury)).body;
  const line = `POST /transaction/${id}/approve`;
  const said = (['alice', 'bob', 'alice'] as const).map((name) =>
    as(treasury[name], line, { body: devices[name].sign(digest) }),
  );
  const answers = await Promise.all(said);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { body } = await as(treasury.alice, `GET /transaction/${id}`);
  expect([body['state'], body['approvals'].length]).toEqual(['SIGNING', 2]);
});

test('an approval during a policy change counts only by the policy in force afterwards', async () => {
  const { treasury, devices } = await deviceTreasury();
  const { id, digest } = (await created(treasury)).body;
  const fresh = ScriptDevice.create().enrolment(treasury.bob.id);
  const patch = { removeDevices: [devices.bob.asDevice(treasury.bob.id).keyId], addDevices: [fresh] };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body: patch });
  await approveChange(treasury, 'alice', proposed, devices);
  const line = `POST /transaction/${id}/approve`;
  const signature = { body: devices.bob.sign(digest) };
  await Promise.all([approveChange(treasury, 'carol', proposed, devices), as(treasury.bob, line, signature)]);
  const { body } = await as(treasury.alice, `GET /transaction/${id}`);
  expect([body['approvals'], body['approvalsCounted']]).toEqual([[], 0]);
});

test('a vault can be created with its devices, so that no token approval ever counts in it', async () => {
  const alice = await enter('alice');
  const device = ScriptDevice.create();
  const creation = {
    name: 'Cold',
    members: [{ userId: alice.id, roles: ['signer', 'initiator'] }],
    threshold: 1,
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    approvalMode: 'device',
  };
  // Without devices the signers add them before they found the vault.
  const empty = await asService('POST /internal/vault', { ...creation, cosigners: null });
  expect([empty.status, empty.body['founding'].withoutDevice]).toEqual([201, [alice.id]]);
  const mallorys = ScriptDevice.create().enrolment((await enter('mallory')).id);
  const strange = await asService('POST /internal/vault', { ...creation, devices: [mallorys] });
  expect([strange.status, strange.body['errors'][0].pointer]).toEqual([400, '/devices']);
  const devices = [device.enrolment(alice.id)];
  // The co-signers are unreachable in this test, so the service cannot name their keys in the
  // policy.
  const unpinned = await asService('POST /internal/vault', { ...creation, devices, reference: 'unpinned' });
  expect([unpinned.status, unpinned.body['code']]).toEqual([503, 'unavailable']);
  expect(unpinned.headers.get('retry-after')).not.toBeNull();
  const cosigners = [1, 2, 3].map((index) => ({ index, signing: `${index}a`.repeat(32) }));
  const pinned = await asService('POST /internal/vault', { ...creation, devices, cosigners });
  expect([pinned.status, pinned.body['policy'].cosigners]).toEqual([201, cosigners]);
  const opened = await asService('POST /internal/vault', { ...creation, devices, cosigners: null });
  expect([opened.status, opened.body['policy']]).toMatchObject([
    201,
    { version: 1, approvalMode: 'device', devices: [{ userId: alice.id }], cosigners: null },
  ]);
  for (const wrong of [
    cosigners.slice(0, 2),
    cosigners.toReversed(),
    cosigners.map((one) => ({ ...one, signing: '1a'.repeat(32) })),
  ]) {
    const refusedFor = await asService('POST /internal/vault', { ...creation, devices, cosigners: wrong });
    expect([refusedFor.status, refusedFor.body['errors'][0].pointer]).toEqual([400, '/cosigners']);
  }
});

/** Returns bindings whose co-signers publish these keys. */
function publishing(keys: readonly { readonly index: number; readonly signing: string }[]): CoordinatorEnv {
  const door = (index: number) =>
    ({ fetch: () => Promise.resolve(Response.json(keys[index - 1])) }) as unknown as Fetcher;
  return { ...coordinator, COSIGNER_1: door(1), COSIGNER_2: door(2), COSIGNER_3: door(3) };
}

test('a change from token to device mode names the keys of the co-signers, unless its author sends null', async () => {
  const cosigners = [1, 2, 3].map((index) => ({ index, signing: `${index}c`.repeat(32) }));
  const env = publishing(cosigners);
  const [treasury, devices] = [await foundTreasury(), newDevices()];
  const { token } = treasury.alice;
  const [line, inside] = [`/vault/${treasury.id}/policy-change`, `/internal/vault/${treasury.id}/policy-change`];
  const patch = { approvalMode: 'device', addDevices: enrolments(treasury, devices) };
  const service = coordinator.TEST_SERVICE_KEY;
  const named = async (answer: Promise<Answer>) => {
    const { status, body } = await answer;
    return [status, body['policy']?.cosigners ?? body['code'] ?? null];
  };
  // If a co-signer is unreachable, no change is proposed.
  expect(await named(as(treasury.alice, `POST ${line}`, { body: patch }))).toEqual([503, 'unavailable']);
  expect(await named(asService(`POST ${inside}`, patch))).toEqual([503, 'unavailable']);
  expect(await named(as(treasury.alice, `POST ${line}`, { body: patch, env }))).toEqual([201, cosigners]);
  expect(await named(call(`POST ${inside}`, { body: patch, env, token: service }))).toEqual([201, cosigners]);
  // A change names no keys if its author sends null, or if the vault stays in token mode.
  expect(await named(call(`POST ${line}`, { body: { ...patch, cosigners: null }, env, token }))).toEqual([201, null]);
  const stays = { approvalMode: 'token', threshold: 3 };
  expect(await named(as(treasury.bob, `POST ${line}`, { body: stays, env }))).toEqual([201, null]);
});

test('a vault that is already in device mode without co-signer keys gets none by another change', async () => {
  const { treasury } = await deviceTreasury();
  const env = publishing([1, 2, 3].map((index) => ({ index, signing: `${index}c`.repeat(32) })));
  const before = await policyOf(treasury);
  const body = { approvalMode: 'device', threshold: 3 };
  const proposed = await as(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { body, env });
  expect([before['cosigners'], proposed.body['policy'].cosigners]).toEqual([null, null]);
});

function parsedUser(text: string) {
  const id = parseUserId(text);
  if (id === null) throw new Error('a user has an id');
  return id;
}
