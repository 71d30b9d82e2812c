/**
 * Attack: the thief of a token deletes every other token of a signer. The signer has the device and
 *   no way to send its signatures, so a vault of two signers is locked while the thief is present.
 * Attacker: thief-of-secrets
 * Co-signers: 0
 * Finding: S1
 * Defence: in device mode a device signs the requests that read and decide, in place of a token.
 */
import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { parseVaultId } from '#domain/id.ts';
import { ROUTES } from '#http/routes.ts';
import type { Answer, Treasury } from '../../http/scene.worker.ts';
import { asService, call, created, foundTreasury } from '../../http/scene.worker.ts';
import { deviceTreasury } from '../../http/device-treasury.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code']];

/** Sends requests with a device and without a token. */
function senderOf(device: ScriptDevice, { id }: Pick<Treasury, 'id'>) {
  const vaultId = parseVaultId(id);
  if (vaultId === null) throw new Error('the vault has an id');
  const header = (line: string, atMs = Date.now()) => {
    const [method = '', target = ''] = line.split(' ');
    return device.authorization({ vaultId, method, target, atMs });
  };
  const send = (line: string, body?: object, authorization = header(line)) =>
    call(line, { headers: { authorization }, ...(body === undefined ? {} : { body }) });
  return { send, header };
}

/** A vault in device mode with a payment. The token of bob is gone. */
async function lockedOut() {
  const { treasury, devices } = await deviceTreasury();
  const id = String((await created(treasury)).body['id']);
  const { token } = treasury.bob;
  await call(`DELETE /personal-access-token/${token.slice(12, 28)}`, { token });
  expect((await call(`GET /transaction/${id}/challenge`, { token })).status).toBe(401);
  return { treasury, devices, id };
}

test('a signer without a token reads, approves and rejects with the device', async () => {
  const { treasury, devices, id } = await lockedOut();
  const { send } = senderOf(devices.bob, treasury);
  const list = await send(`GET /vault/${treasury.id}/transactions?limit=5`);
  expect(list.body['transactions'].map((one: { id: string }) => one.id)).toEqual([id]);
  const { digest, rejection } = (await send(`GET /transaction/${id}/challenge`)).body;
  const approved = await send(`POST /transaction/${id}/approve`, devices.bob.sign(digest));
  expect([approved.status, approved.body['approvals'].map((one: { userId: string }) => one.userId)]).toEqual([
    200,
    [treasury.bob.id],
  ]);
  const rejected = await send(`POST /transaction/${id}/reject`, devices.bob.sign(rejection.digest));
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
  const proposed = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 3 });
  const change = `/vault/${treasury.id}/policy-change/${proposed.body['id']}`;
  const { digest: ofChange } = (await send(`GET ${change}`)).body;
  expect((await send(`POST ${change}/approve`, devices.bob.sign(ofChange))).status).toBe(200);
});

test('a device sends the requests of its vault that read and decide, and no others', async () => {
  const { treasury, devices, id } = await lockedOut();
  const { send } = senderOf(devices.bob, treasury);
  const open = ROUTES.filter(({ byDevice }) => byDevice === true).map(({ method, path }) => `${method} ${path}`);
  expect(open.toSorted()).toEqual([
    'GET /transaction/:txId/challenge',
    'GET /vault/:vaultId/policies',
    'GET /vault/:vaultId/policy',
    'GET /vault/:vaultId/policy-change',
    'GET /vault/:vaultId/policy-change/:changeId',
    'GET /vault/:vaultId/transactions',
    'POST /transaction/:txId/approve',
    'POST /transaction/:txId/reject',
    'POST /vault/:vaultId/policy-change/:changeId/approve',
    'POST /vault/:vaultId/policy-change/:changeId/reject',
  ]);
  for (const line of ['GET /user/me', `POST /transaction/${id}/cancel`, 'POST /transaction/transfer']) {
    expect(outcome(await send(line, line.startsWith('GET') ? undefined : {}))).toEqual([401, 'token-missing']);
  }
  const other = await foundTreasury();
  expect(outcome(await send(`GET /vault/${other.id}/policy`))).toEqual([403, 'insufficient-scope']);
});

test('a request without a valid signature of a device in force is refused', async () => {
  const { treasury, devices, id } = await lockedOut();
  const { send, header } = senderOf(devices.bob, treasury);
  const line = `GET /transaction/${id}/challenge`;
  const policy = `GET /vault/${treasury.id}/policy`;
  const stranger = senderOf(ScriptDevice.create(), treasury);
  const [vault = '', key = '', , signature = ''] = header(line).slice('Device '.length).split('.');
  const asCarol = `Device ${vault}.${devices.carol.keyId()}.${Date.now()}.${signature}`;
  const faults: readonly (readonly [string, string])[] = [
    [stranger.header(line), 'unknown-device'],
    [header(policy), 'wrong-signature'],
    [header(line.replace('GET', 'POST')), 'wrong-signature'],
    [header(`${line}?nonce=${'ab'.repeat(32)}`), 'wrong-signature'],
    [asCarol, 'wrong-signature'],
    [`Device ${vault}.${key}.${Date.now()}.${signature.slice(1)}`, 'malformed'],
    [header(line, Date.now() - 5 * 60_000 - 1_000), 'expired'],
    [header(line, Date.now() + 6 * 60_000), 'expired'],
  ];
  for (const [authorization, fault] of faults) {
    const { status, body } = await send(line, undefined, authorization);
    expect([status, body['code'], body['fault']]).toEqual([403, 'device-signature-refused', fault]);
  }
  // A decision needs a signature of its own: the signed request does not make it.
  expect(outcome(await send(`POST /transaction/${id}/approve`))).toEqual([403, 'device-signature-required']);
});

test('the device of a disabled person, and of a vault in token mode, opens nothing', async () => {
  const { treasury, devices, id } = await lockedOut();
  const { send } = senderOf(devices.bob, treasury);
  expect((await asService(`POST /internal/user/${treasury.bob.id}/disable`)).status).toBe(200);
  expect(outcome(await send(`GET /transaction/${id}/challenge`))).toEqual([409, 'user-disabled']);
  const ofTokens = await foundTreasury();
  const device = senderOf(devices.alice, ofTokens);
  const refused = await device.send(`GET /vault/${ofTokens.id}/policy`);
  expect([...outcome(refused), refused.body['fault']]).toEqual([403, 'device-signature-refused', 'unknown-device']);
});
