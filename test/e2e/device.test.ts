import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { parseUserId } from '#domain/id.ts';
import { unwrap } from '#cli/api-client.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { publicIdentity } from '#mpc/identity.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { Authenticator } from '../devices/authenticator.ts';
import type { World } from './world.ts';
import { finished, startWorld } from './world.ts';

/**
 * Covers a vault whose signers sign with devices: alice in her terminal, bob with the passkey of
 * his phone, carol with a script.
 */

const RECIPIENT = '0x00000000000000000000000000000000de71ce01';
let world: World;
let vault: ReadyVault;
/** A passkey is bound to the origin of the approval page. */
const APPROVAL_ORIGIN = 'http://localhost:5173';
let phone: Authenticator;
const script = ScriptDevice.create();
const run = promisify(execFile);

beforeAll(async () => {
  world = await startWorld({ approvalOrigin: APPROVAL_ORIGIN });
  vault = await world.vault('treasury');
  const bob = parseUserId(world.people().bob.id);
  if (bob === null) throw new Error('bob has an id');
  phone = new Authenticator(bob, { rpId: 'localhost', origin: APPROVAL_ORIGIN });
});
afterAll(() => world.end());

const keyFile = () => join(world.folder, 'alice.pem');

/** Returns the identity keys of the co-signers, as their operators know them. */
function cosigners(): CosignerPin[] {
  const secrets = JSON.parse(readFileSync(join(world.folder, 'secrets.json'), 'utf8')) as {
    readonly cosigners: readonly { readonly identity: string }[];
  };
  return secrets.cosigners.map(({ identity }, i) => ({ index: i + 1, signing: publicIdentity(identity).signing }));
}

/** Runs a device command as alice types it in her terminal. */
function device(...words: readonly string[]) {
  return deviceWith({ CONCLAVE_TOKEN: world.people().alice.token }, words);
}

async function deviceWith(
  variables: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<{ answer: Record<string, unknown>; shown: string }> {
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, ...variables };
  const { stdout, stderr } = await run(
    process.execPath,
    ['cli/conclave.ts', 'device', '--bundled-node', ...words, '--key', keyFile()],
    {
      env,
    },
  );
  return { answer: JSON.parse(stdout) as Record<string, unknown>, shown: stderr };
}

async function approveChange(
  person: Person,
  changeId: string,
  signature?: ReturnType<Authenticator['sign']> | ReturnType<ScriptDevice['sign']>,
) {
  const param = { vaultId: String(vault.id), changeId };
  const api = person.client.api.vault[':vaultId']['policy-change'][':changeId'];
  return unwrap(api.approve.$post({ param, ...(signature === undefined ? {} : { json: signature }) }));
}

test('three signers enrol their devices, and only device approvals count from then on', async () => {
  const { alice, bob, carol } = world.people();
  await device('new');
  expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  await expect(device('new')).rejects.toThrow('EEXIST');
  const enrolled = await device('enrol', '--vault', String(vault.id));
  expect(enrolled.answer).toMatchObject({ state: 'PENDING', policy: { approvalMode: 'token' } });
  for (const person of [alice, bob]) await approveChange(person, String(enrolled.answer['id']));
  const { algorithm, publicKey, credentialId, rpId, origin } = phone.passkey;
  const passkey = { userId: bob.id, algorithm, publicKey, credentialId, rpId, origin, proof: phone.proof() };
  const addDevices = [passkey, script.enrolment(carol.id)];
  const json = { approvalMode: 'device' as const, addDevices, cosigners: cosigners() };
  const param = { vaultId: String(vault.id) };
  const { id, digest } = await unwrap(bob.client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
  const founding = ['approve-policy', '--vault', param.vaultId, '--change', id, '--yes', '--fingerprint'];
  const other = fingerprintOf(cosigners().map((one) => ({ ...one, signing: `${one.index}c`.repeat(32) })));
  await expect(device(...founding, other, '--threshold', '2')).rejects.toThrow('The fingerprint does not match');
  const own = fingerprintOf(cosigners());
  await expect(device(...founding, own, '--threshold', '3')).rejects.toThrow('2 co-signers sign together');
  const { answer, shown } = await device(...founding, own, '--threshold', '2');
  expect(answer).toMatchObject({ state: 'PENDING', requiredApprovals: 3 });
  for (const { keyId } of [phone.passkey, { keyId: script.keyId() }])
    expect(shown.replaceAll(/\s/g, '')).toContain(keyId);
  await approveChange(bob, id, phone.sign(digest));
  await approveChange(carol, id, script.sign(digest));
  const { policy } = await unwrap(carol.client.api.vault[':vaultId'].policy.$get({ param, query: {} }));
  expect([policy.version, policy.approvalMode, policy.devices.length]).toEqual([3, 'device', 3]);
});

test('a device without pins signs nothing, and is pinned only with the fingerprint of the operators', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '5' });
  await expect(device('approve', '--transaction', id, '--yes')).rejects.toThrow('No co-signers are pinned');
  const keys = ['pin', '--vault', String(vault.id)];
  const unsaid = device(...keys, '--fingerprint', fingerprintOf(cosigners()));
  await expect(unsaid).rejects.toThrow('the signingThreshold that the vault was created with');
  const pin = [...keys, '--threshold', '2'];
  const other = fingerprintOf(cosigners().map((one) => ({ ...one, signing: `${one.index}c`.repeat(32) })));
  await expect(device(...pin, '--fingerprint', other)).rejects.toThrow('The fingerprint does not match these keys');
  await expect(device('approve', '--transaction', id, '--yes')).rejects.toThrow('No co-signers are pinned');
  const { answer, shown } = await device(...pin, '--fingerprint', fingerprintOf(cosigners()));
  expect(answer).toMatchObject({ vault: vault.id, threshold: 2, policy: { version: 3 } });
  for (const { index } of cosigners()) expect(shown).toContain(`Co-signer ${index}: agrees, version 3 is in force`);
  expect((await stat(`${keyFile()}.pins.json`)).mode & 0o777).toBe(0o600);
  await device('reject', '--transaction', id, '--yes');
});

test('without a token alice approves and rejects in her terminal', async () => {
  const { id } = await world.people().alice.client.transfer({
    vaultId: vault.id,
    chain: 'anvil',
    to: RECIPIENT,
    amount: '7',
  });
  const decide = async (act: string) => (await deviceWith({}, [act, '--transaction', id, '--yes'])).answer;
  expect(await decide('approve')).toMatchObject({ state: 'SUBMITTED', approvalsCounted: 1 });
  expect(await decide('reject')).toMatchObject({ state: 'REJECTED' });
});

test('alice approves in her terminal a payment that her machine decoded, bob with his phone, and it is paid', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '4321' });
  const { answer, shown } = await device('approve', '--transaction', id, '--yes');
  expect(answer).toMatchObject({ state: 'SUBMITTED', approvalsCounted: 1 });
  expect(shown).toContain('Amount: 0.000000000000004321 ETH');
  expect(shown).toContain('Co-signer 3: agrees, version 3 is in force');
  expect(shown.toLowerCase()).toContain(RECIPIENT);
  const { digest } = await bob.client.challenge(id);
  const { approve } = bob.client.api.transaction[':txId'];
  await unwrap(approve.$post({ param: { txId: id }, json: phone.sign(digest) }));
  expect(await finished(alice, id)).toMatchObject({ state: 'SUCCEEDED', approvalsCounted: 2 });
  expect(await world.chain.balance(RECIPIENT)).toBe(4321n);
});

test('a service that shows one payment and requests the signature of another gets no signature', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1' });
  const other = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '2' });
  const bytes = { own: await alice.client.challenge(id), other: await alice.client.challenge(other.id) };
  expect(readCanonical(hexToBytes(bytes.own.canonical)).fields).toContainEqual(['amount', '1']);
  const requests: string[] = [];
  // A server in the place of the service. It shows one payment with the bytes of another, and
  // records the requests of the device.
  const liar = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...bytes.own, canonical: bytes.other.canonical }));
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  const env = {
    ...process.env,
    CONCLAVE_URL: `http://127.0.0.1:${(liar.address() as AddressInfo).port}`,
    CONCLAVE_TOKEN: alice.token,
  };
  const words = [
    'cli/conclave.ts',
    'device',
    '--bundled-node',
    'approve',
    '--transaction',
    id,
    '--yes',
    '--key',
    keyFile(),
  ];
  await expect(run(process.execPath, words, { env })).rejects.toThrow('The bytes belong to another transaction');
  await new Promise((resolve) => liar.close(resolve));
  expect(requests).toEqual([expect.stringMatching(`^GET /transaction/${id}/challenge\\?nonce=[0-9a-f]{64}$`)]);
});

/**
 * Runs `act` against a proxy that changes the co-signer statements for the device and forwards
 * everything else.
 */
async function withStatements(
  change: (statements: readonly Statement[]) => readonly Statement[],
  act: (url: string) => Promise<void>,
) {
  const { url } = world.stack();
  const liar = createServer((request, response) => {
    const answer = async () => {
      const { method = 'GET', headers: given } = request;
      const headers = { authorization: given.authorization ?? '', 'content-type': given['content-type'] ?? '' };
      const sent = method === 'GET' ? {} : { body: Buffer.concat(await request.toArray()) };
      const passed = await fetch(`${url}${request.url}`, { method, headers, ...sent });
      const body = (await passed.json()) as Record<string, unknown>;
      const { statements } = body as { readonly statements?: readonly Statement[] };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(statements == null ? body : { ...body, statements: change(statements) }));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  await act(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`);
  await new Promise((resolve) => liar.close(resolve));
}

interface Statement {
  readonly cosigner: number;
  readonly statement: { readonly policyVersion: number; readonly nonce: string } | null;
}

test('a service that leaves out, replays or forges the statements of co-signers gets no signature', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '3' });
  const { statements } = await alice.client.challenge(id, 'ab'.repeat(32));
  if (statements === null) throw new Error('a nonce was given');
  const lies: readonly ((given: readonly Statement[]) => readonly Statement[])[] = [
    () => [],
    (given) => given.map((one) => (one.cosigner === 1 ? one : { ...one, statement: null })),
    () => statements,
    (given) =>
      given.map(({ cosigner, statement }) => {
        const signed = statements.find((one) => one.cosigner === cosigner)?.statement;
        return {
          cosigner,
          statement: signed == null || statement === null ? null : { ...signed, nonce: statement.nonce },
        };
      }),
  ];
  for (const lie of lies) {
    await withStatements(lie, async (url) => {
      const env = { ...process.env, CONCLAVE_URL: url, CONCLAVE_TOKEN: alice.token };
      const words = [
        'cli/conclave.ts',
        'device',
        '--bundled-node',
        'approve',
        '--transaction',
        id,
        '--yes',
        '--key',
        keyFile(),
      ];
      await expect(run(process.execPath, words, { env })).rejects.toThrow('Fewer than 2 co-signers state');
    });
  }
  expect((await alice.client.read(id)).approvalsCounted).toBe(0);
  await device('reject', '--transaction', id, '--yes');
});

test('a device without the statement of one co-signer signs once its owner has named that co-signer', async () => {
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '6' });
  const withoutThird = (given: readonly Statement[]) =>
    given.map((one) => (one.cosigner === 3 ? { ...one, statement: null } : one));
  await withStatements(withoutThird, async (url) => {
    const env = { ...process.env, CONCLAVE_URL: url, CONCLAVE_TOKEN: alice.token };
    const words = ['cli/conclave.ts', 'device', '--bundled-node', 'approve', '--transaction', id, '--key', keyFile()];
    const approve = (...more: readonly string[]) => run(process.execPath, [...words, ...more], { env });
    await expect(approve('--yes')).rejects.toThrow('name them with --despite-cosigner 3:unknown');
    const other = approve('--yes', '--despite-cosigner', '3:later-version', '--despite-cosigner', '2:unknown');
    await expect(other).rejects.toThrow('name them with --despite-cosigner 3:unknown');
    const plain = approve();
    plain.child.stdin?.end('yes\n');
    await expect(plain).rejects.toThrow("The answer was not 'yes despite 3'");
    expect((await alice.client.read(id)).approvalsCounted).toBe(0);
    const { stdout, stderr } = await approve('--yes', '--despite-cosigner', '3:unknown');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'SUBMITTED', approvalsCounted: 1 });
    expect(stderr).toContain('Co-signer 3: unknown (missing)');
    // Alice types the co-signer number in a terminal. A second approval by the same signer adds
    // nothing.
    const typed = approve();
    typed.child.stdin?.end('yes despite 3\n');
    expect(JSON.parse((await typed).stdout)).toMatchObject({ approvalsCounted: 1 });
  });
  await device('reject', '--transaction', id, '--yes');
});

test('the device refuses a policy that names other co-signers than it has pinned', async () => {
  const file = `${keyFile()}.pins.json`;
  const before = await readFile(file, 'utf8');
  const stale = cosigners().map((one) => ({ ...one, signing: `${one.index}d`.repeat(32) }));
  const pinned = JSON.parse(before) as { vaults: Record<string, object> };
  pinned.vaults[String(vault.id)] = { ...pinned.vaults[String(vault.id)], cosigners: stale };
  await writeFile(file, JSON.stringify(pinned));
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '2' });
  // The policy in force names other co-signers than alice has pinned, and no later policy change
  // proves the new ones.
  await expect(device('approve', '--transaction', id, '--yes')).rejects.toThrow(
    'Pin them again with their fingerprint',
  );
  await writeFile(file, before);
  await device('reject', '--transaction', id, '--yes');
});

test('the change back to token mode requires a device signature, and a device signs only after yes', async () => {
  const { alice, bob } = world.people();
  const param = { vaultId: String(vault.id) };
  const json = { approvalMode: 'token' as const };
  const proposed = await unwrap(bob.client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
  const words = ['approve-policy', '--vault', param.vaultId, '--change', proposed.id];
  await expect(unanswered(words)).rejects.toThrow("The answer was not 'yes'");
  const { answer, shown } = await device(...words, '--yes');
  expect(answer).toMatchObject({ state: 'PENDING', approvals: [{ userId: alice.id }] });
  expect(shown).toContain('! Device signatures are no longer required.');
  const adopted = await approveChange(bob, proposed.id, phone.sign(proposed.digest));
  expect(adopted.state).toBe('ADOPTED');
  // The transfer succeeds, so the co-signers adopted the change: they counted the same two device
  // approvals.
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '7' });
  expect(await finished(alice, await world.approve(id))).toMatchObject({ state: 'SUCCEEDED' });
});

test('a vault that is created in device mode names the identity keys of its co-signers', async () => {
  const { carol } = world.people();
  const json = {
    name: 'Cold',
    members: [{ userId: carol.id, roles: ['signer' as const, 'initiator' as const] }],
    threshold: 1,
    initialState: 'SUBMITTED' as const,
    chains: ['anvil'],
    approvalMode: 'device' as const,
    devices: [script.enrolment(carol.id)],
  };
  const { policy } = await unwrap(world.service().api.internal.vault.$post({ json }));
  expect(policy.cosigners).toEqual(cosigners());
});

/** Runs a device command and answers its prompt with an empty line. */
async function unanswered(words: readonly string[]): Promise<unknown> {
  const { alice } = world.people();
  const env = { ...process.env, CONCLAVE_URL: world.stack().url, CONCLAVE_TOKEN: alice.token };
  const running = run(process.execPath, ['cli/conclave.ts', 'device', '--bundled-node', ...words, '--key', keyFile()], {
    env,
  });
  running.child.stdin?.end('\n');
  return running;
}
