import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseUserId } from '#domain/id.ts';
import { good } from '#local/client.ts';
import type { Person, ReadyVault } from '#local/provision.ts';
import { readCanonical } from '#domain/read-canonical.ts';
import { ScriptDevice } from '#local/script-device.ts';
import { Authenticator } from '../devices/authenticator.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/** A vault whose signers sign: alice from her terminal, bob with the passkey of his phone, carol with a script. */

const RECIPIENT = '0x00000000000000000000000000000000de71ce01';
let world: World;
let vault: ReadyVault;
let phone: Authenticator;
const script = ScriptDevice.create();
const run = promisify(execFile);

beforeAll(async () => {
  world = await startWorld();
  vault = await world.vault('treasury');
  const bob = parseUserId(world.people().bob.id);
  if (bob === null) throw new Error('bob has an id');
  phone = new Authenticator(bob, { rpId: 'localhost', origin: 'http://localhost:5173' });
}, 120_000);
afterAll(() => world.end());

const keyFile = () => join(world.folder, 'alice.pem');

/** As alice types it. */
async function device(...words: readonly string[]): Promise<{ answer: Record<string, unknown>; shown: string }> {
  const { alice } = world.people();
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_TOKEN: alice.token };
  const { stdout, stderr } = await run(process.execPath, ['local/device.ts', ...words, '--key', keyFile()], { env });
  return { answer: JSON.parse(stdout) as Record<string, unknown>, shown: stderr };
}

async function approveChange(person: Person, changeId: string, voice?: ReturnType<Authenticator['voice']>) {
  const param = { vaultId: String(vault.id), changeId };
  const api = person.client.api.vault[':vaultId']['policy-change'][':changeId'];
  return good(api.approve.$post({ param, ...(voice === undefined ? {} : { json: voice }) }));
}

test('three people enrol what they sign with, and from then on nothing else counts', async () => {
  const { alice, bob, carol } = world.people();
  await device('new');
  expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  await expect(device('new')).rejects.toThrow('EEXIST');
  const enrolled = await device('enrol', '--vault', String(vault.id));
  expect(enrolled.answer).toMatchObject({ state: 'PENDING', policy: { approvalMode: 'token' } });
  for (const person of [alice, bob]) await approveChange(person, String(enrolled.answer['id']));
  const { algorithm, publicKey, credentialId, rpId, origin } = phone.passkey;
  const passkey = { userId: bob.id, algorithm, publicKey, credentialId, rpId, origin, proof: phone.proof() };
  const json = { approvalMode: 'device' as const, addDevices: [passkey, script.enrolment(carol.id)] };
  const param = { vaultId: String(vault.id) };
  const proposed = await good(bob.client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
  for (const person of [bob, carol]) await approveChange(person, proposed.id);
  const { policy } = await good(carol.client.api.vault[':vaultId'].policy.$get({ param }));
  expect([policy.version, policy.approvalMode, policy.devices.length]).toEqual([3, 'device', 3]);
});

test('alice approves in her terminal what her own machine has read and hashed, bob with his phone, and it is paid', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '4321' });
  const { answer, shown } = await device('approve', '--transaction', id, '--yes');
  expect(answer).toMatchObject({ state: 'SUBMITTED', approvalsCounted: 1 });
  expect(shown).toContain('amount: "4321"');
  expect(shown.toLowerCase()).toContain(RECIPIENT);
  const { digest } = await bob.client.challenge(id);
  const { approve } = bob.client.api.transaction[':txId'];
  await good(approve.$post({ param: { txId: id }, json: phone.voice(digest) }));
  expect(await finished(alice, id)).toMatchObject({ state: 'SUCCEEDED', approvalsCounted: 2 });
  expect(await world.chain.balance(RECIPIENT)).toBe(4321n);
});

test('a service that shows one payment and asks for the signature of another gets none', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1' });
  const other = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '2' });
  const bytes = { own: await alice.client.challenge(id), other: await alice.client.challenge(other.id) };
  expect(readCanonical(hexToBytes(bytes.own.canonical)).fields).toContainEqual(['amount', '1']);
  const asked: string[] = [];
  // In the middle: it answers for the service, and sees what it is sent.
  const liar = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...bytes.own, canonical: bytes.other.canonical }));
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  const env = {
    ...process.env,
    CONCLAVE_URL: `http://127.0.0.1:${(liar.address() as AddressInfo).port}`,
    CONCLAVE_TOKEN: alice.token,
  };
  const words = ['local/device.ts', 'approve', '--transaction', id, '--yes', '--key', keyFile()];
  await expect(run(process.execPath, words, { env })).rejects.toThrow('the bytes of another transaction');
  await new Promise((resolve) => liar.close(resolve));
  expect(asked).toEqual([`GET /transaction/${id}/challenge`]);
});

test('the way back is signed as everything else, and without yes nothing is', async () => {
  const { alice, bob } = world.people();
  const param = { vaultId: String(vault.id) };
  const json = { approvalMode: 'token' as const };
  const proposed = await good(bob.client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
  const words = ['approve-policy', '--vault', param.vaultId, '--change', proposed.id];
  await expect(unanswered(words)).rejects.toThrow('nobody said yes');
  const { answer, shown } = await device(...words, '--yes');
  expect(answer).toMatchObject({ state: 'PENDING', approvals: [{ userId: alice.id }] });
  expect(shown).toContain('approvalMode: "token"');
  const adopted = await approveChange(bob, proposed.id, phone.voice(proposed.digest));
  expect(adopted.state).toBe('ADOPTED');
  // The co-signers follow: they have counted the same two devices.
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '7' });
  expect(await finished(alice, await world.approve(id))).toMatchObject({ state: 'SUCCEEDED' });
});

/** Somebody presses enter. */
async function unanswered(words: readonly string[]): Promise<unknown> {
  const { alice } = world.people();
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_TOKEN: alice.token };
  const running = run(process.execPath, ['local/device.ts', ...words, '--key', keyFile()], { env });
  running.child.stdin?.end('\n');
  return running;
}
