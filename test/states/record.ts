import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getAddress } from 'viem';
import { sendTransaction } from 'viem/actions';
import { address } from '@solana/kit';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { Client, unwrap } from '#cli/api-client.ts';
import { newRecoveryKey } from '#cli/recovery/key-file.ts';
import { report } from '#local/stack/monitor.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import { pinsOfStack } from '#local/stack/stack-pins.ts';
import type { Stack, StackOptions } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import type { Chains, Golden } from './golden-state.ts';
import { entry, RECOVERY_KEYS, serviceOf, stackOptions, startChains, store } from './golden-state.ts';

/**
 * `npm run state -- record` writes the golden state of this release, the version in package.json,
 * to `test/states/`. Record it once, when the release is cut: later releases open this state, and
 * its bytes must be those that the release wrote.
 */

const DEADLINE_MS = 120_000;
const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const BTC = 10n ** 8n;
const [ANVIL, SOLANA, BITCOIN] = ['anvil', 'solana-local', 'bitcoin-regtest'] as const;
/** Recipients that are paid by nothing else. */
const RECIPIENTS = {
  [ANVIL]: '0x0000000000000000000000000000000000601de1',
  [SOLANA]: 'GoLdenStateRecipient11111111111111111111111',
} as const;

/** The deployment during the recording. */
interface Scene {
  readonly chains: Chains;
  readonly options: StackOptions;
  stack: Stack;
  readonly people: Readonly<Record<'alice' | 'bob' | 'carol' | 'dave', Person>>;
  readonly treasury: ReadyVault;
  readonly reserve: ReadyVault;
  readonly devices: readonly ScriptDevice[];
}

async function recordState(release: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-record-'));
  const recoveryKeys = RECOVERY_KEYS.map((name) => newRecoveryKey(join(folder, name)));
  const chains = await startChains(folder);
  const options = stackOptions(folder, chains, recoveryKeys);
  const scene = await sceneOf(chains, options);
  const golden = await played(scene, recoveryKeys);
  await scene.stack.stop();
  // The chains write their state when they end.
  await chains.end();
  store(release, golden, folder);
  await rm(folder, { recursive: true, force: true });
  console.log(`wrote test/states/${release}`);
}

async function sceneOf(chains: Chains, options: StackOptions): Promise<Scene> {
  const stack = await startStack(options);
  const service = new Client(stack.url, stack.serviceKey);
  const enter = (name: string) => createPerson(service, stack.url, name);
  const people = {
    alice: await enter('alice'),
    bob: await enter('bob'),
    carol: await enter('carol'),
    dave: await enter('dave'),
  };
  const signers = [people.alice, people.bob, people.carol];
  const treasury = await createReadyVault(service, {
    name: 'treasury',
    signers,
    threshold: 2,
    chains: [SOLANA, BITCOIN],
  });
  const devices = signers.map(() => ScriptDevice.create());
  const reserve = await createReadyVault(service, {
    name: 'reserve',
    signers,
    threshold: 2,
    initialState: 'DRAFT',
    approvalMode: 'device',
    devices,
    cosigners: pinsOfStack(options.folder),
  });
  await chains.anvil.fund(treasury.address, ETHER);
  await chains.anvil.fund(reserve.address, ETHER);
  chains.solana.chain.airdrop(address(treasury.addresses[SOLANA] ?? ''), 10n * SOL);
  for (let i = 0; i < 4; i++) chains.bitcoin.chain.fund(treasury.addresses[BITCOIN] ?? '', BTC);
  return { chains, options, stack, people, treasury, reserve, devices };
}

/** Brings about every state, and returns what the deployment has in the end. */
async function played(scene: Scene, recoveryKeys: readonly string[]): Promise<Golden> {
  const { people, treasury, reserve, devices } = scene;
  const { alice, bob, carol } = people;
  const ids: Record<string, string> = {};
  ids['SUCCEEDED'] = await approved(scene, payment(scene, ANVIL, '1000'));
  await reaches(scene, ids['SUCCEEDED'], 'SUCCEEDED');
  ids['solana'] = await approved(scene, payment(scene, SOLANA, '2000000'));
  await reaches(scene, ids['solana'], 'SUCCEEDED');
  await changePolicies(scene);
  ids['reserve'] = await reserveTransfer(scene);
  for (const i of [0, 1]) await approveByDevice(scene, ids['reserve'], i);
  await reaches(scene, ids['reserve'], 'SUCCEEDED');
  const policyChange = await proposed(scene, { recipients: 'address-book' });
  await approvePolicy(scene, policyChange, 0);
  ids['DRAFT'] = await reserveTransfer(scene);
  await approveByDevice(scene, ids['DRAFT'], 0);

  ids['REJECTED'] = (await alice.client.transfer(payment(scene, ANVIL, '1'))).id;
  await bob.client.reject(ids['REJECTED']);
  ids['CANCELLED'] = (await alice.client.transfer(payment(scene, ANVIL, '2'))).id;
  const { cancel } = alice.client.api.transaction[':txId'];
  await unwrap(cancel.$post({ param: { txId: ids['CANCELLED'] } }));
  ids['FAILED'] = await failed(scene);
  ids['EXPIRED'] = await expired(scene);
  ids['SUBMITTED'] = (await alice.client.transfer(payment(scene, ANVIL, '3'))).id;
  await bob.client.approve(ids['SUBMITTED']);
  ids['CONFIRMING'] = await onBitcoin(scene);
  scene.chains.bitcoin.chain.mine();
  await reaches(scene, ids['CONFIRMING'], 'CONFIRMING');
  ids['BROADCAST'] = await onBitcoin(scene);

  await requestCredentialReset(scene);
  const tokens = await rotated(scene, carol);
  await refreshed(scene, 'frost-ed25519');
  const refreshingKey = await interruptedRefresh(scene);
  // From here on two co-signers are away: what is approved now waits for its signature.
  await restart(scene, [2, 3]);
  ids['SIGNING'] = await approved(scene, payment(scene, ANVIL, '4'));
  await until(scene, ids['SIGNING'], ({ stateReason }) => stateReason === 'SIGNER_UNAVAILABLE');
  const openDeposit = await openDelivery(scene);
  const listed: Record<string, readonly TransactionRecord[]> = {};
  const historyLengths: Record<string, number> = {};
  for (const { id } of [treasury, reserve]) {
    const { client } = at(scene, alice);
    listed[id] = (await client.transactions(id, { limit: '100' })).transactions;
    historyLengths[id] = (await client.history(id)).history.length;
  }
  return {
    recordedAtMs: Date.now(),
    people: Object.fromEntries(
      Object.entries({ ...people, carol: { ...carol, token: tokens.now } }).map(([name, { id, token, cookie }]) => [
        name,
        { id, token, cookie, tokenInGrace: name === 'carol' ? tokens.before : null },
      ]),
    ),
    treasury,
    reserve,
    recoveryKeys,
    devices: Object.fromEntries(['alice', 'bob', 'carol'].map((name, i) => [name, devices[i]?.secretPem() ?? ''])),
    ids,
    policyChange,
    openDeposit,
    refreshingKey,
    listed,
    historyLengths,
  };
}

/** Returns a person with a client for the current address of the service. */
function at({ stack }: Scene, person: Person): Person {
  return { ...person, client: person.client.at(stack.url) };
}

async function restart(scene: Scene, absent: readonly number[]): Promise<void> {
  await scene.stack.stop();
  scene.stack = await startStack({ ...scene.options, absent });
}

function payment({ treasury }: Scene, chain: keyof typeof RECIPIENTS, amount: string): TransferBody {
  return { vaultId: treasury.id, chain, to: RECIPIENTS[chain], amount };
}

async function approved(scene: Scene, body: TransferBody): Promise<string> {
  const { alice, bob } = scene.people;
  const { id } = await at(scene, alice).client.transfer(body);
  for (const person of [alice, bob]) await at(scene, person).client.approve(id);
  return id;
}

function until(scene: Scene, id: string, isReached: (record: TransactionRecord) => boolean) {
  const observation = async () => {
    const record = await at(scene, scene.people.alice).client.read(id);
    return isReached(record) ? record : null;
  };
  return pollUntil(`state of ${id}`, observation, DEADLINE_MS);
}

const reaches = (scene: Scene, id: string, state: TransactionRecord['state']) =>
  until(scene, id, (record) => record.state === state);

async function reserveTransfer(scene: Scene): Promise<string> {
  const body = { vaultId: scene.reserve.id, chain: ANVIL, to: RECIPIENTS[ANVIL], amount: '500' };
  return (await at(scene, scene.people.alice).client.transfer(body)).id;
}

/** @param i the number of the signer: alice, bob or carol */
async function approveByDevice(scene: Scene, txId: string, i: number): Promise<void> {
  const { client } = signerOf(scene, i);
  const { digest } = await client.challenge(txId);
  const json = scene.devices[i]?.sign(digest);
  if (json === undefined) throw new Error('the signer has no device');
  await unwrap(client.api.transaction[':txId'].approve.$post({ param: { txId }, json }));
}

function signerOf(scene: Scene, i: number): Person {
  const { alice, bob, carol } = scene.people;
  return at(scene, [alice, bob, carol][i] ?? alice);
}

type PolicyPatch = Parameters<Client['api']['vault'][':vaultId']['policy-change']['$post']>[0]['json'];

async function proposed(scene: Scene, json: PolicyPatch): Promise<string> {
  const param = { vaultId: String(scene.reserve.id) };
  const { client } = signerOf(scene, 0);
  return (await unwrap(client.api.vault[':vaultId']['policy-change'].$post({ param, json }))).id;
}

async function approvePolicy(scene: Scene, changeId: string, i: number): Promise<void> {
  const param = { vaultId: String(scene.reserve.id), changeId };
  const { client } = signerOf(scene, i);
  const changes = client.api.vault[':vaultId']['policy-change'][':changeId'];
  const { digest } = await unwrap(changes.$get({ param, query: {} }));
  const json = scene.devices[i]?.sign(digest);
  if (json === undefined) throw new Error('the signer has no device');
  await unwrap(changes.approve.$post({ param, json }));
}

/** Adopts two policies of the reserve after its first one. */
async function changePolicies(scene: Scene): Promise<void> {
  const patches: readonly PolicyPatch[] = [
    { addressBook: [{ chain: ANVIL, address: RECIPIENTS[ANVIL], name: 'Landlord' }] },
    { higherThresholds: [{ chain: ANVIL, above: (ETHER / 2n).toString(), threshold: 3 }] },
  ];
  for (const patch of patches) {
    const id = await proposed(scene, patch);
    for (const i of [0, 1]) await approvePolicy(scene, id, i);
  }
}

/** A payment that was affordable when it was created, and is not when it is signed. */
async function failed(scene: Scene): Promise<string> {
  const { chains, treasury } = scene;
  const wallet = getAddress(treasury.address);
  const held = await chains.anvil.balance(wallet);
  const { id } = await scene.people.alice.client.transfer(payment(scene, ANVIL, (held / 2n).toString()));
  // The chain takes the balance back itself: a payment of the vault could still return its amount.
  const chain = anvilClient(chains.anvilUrl);
  await chain.setBalance({ address: wallet, value: held / 4n });
  for (const { client } of [scene.people.alice, scene.people.bob]) await client.approve(id);
  await reaches(scene, id, 'FAILED');
  await chain.setBalance({ address: wallet, value: held });
  return id;
}

async function expired(scene: Scene): Promise<string> {
  const notAfter = new Date(Date.now() + 2_000).toISOString();
  const { id } = await scene.people.alice.client.transfer({ ...payment(scene, ANVIL, '5'), notAfter });
  await reaches(scene, id, 'EXPIRED');
  return id;
}

async function onBitcoin(scene: Scene): Promise<string> {
  const to = scene.treasury.addresses[BITCOIN] ?? '';
  const id = await approved(scene, { vaultId: scene.treasury.id, chain: BITCOIN, to, amount: '50000' });
  await until(scene, id, ({ attempts }) => attempts.at(-1)?.outcome === 'accepted');
  return id;
}

async function requestCredentialReset(scene: Scene): Promise<void> {
  const { user } = serviceOf(scene.stack).api.internal;
  await unwrap(user[':userId']['credential-reset'].$post({ param: { userId: scene.people.dave.id } }));
}

async function rotated(scene: Scene, person: Person): Promise<{ readonly before: string; readonly now: string }> {
  const { client, token } = at(scene, person);
  const tokens = client.api['personal-access-token'];
  const { tokens: own } = await unwrap(tokens.$get({ query: {} }));
  const id = own[0]?.id ?? '';
  const { token: now } = await unwrap(tokens[':id'].rotate.$post({ param: { id } }));
  return { before: token, now };
}

async function keyOf(scene: Scene, scheme: KeyScheme) {
  const param = { vaultId: String(scene.treasury.id) };
  const { keys } = await unwrap(serviceOf(scene.stack).api.internal.vault[':vaultId'].$get({ param }));
  const keyId = keys.find((key) => key.scheme === scheme)?.keyId ?? '';
  const { key } = serviceOf(scene.stack).api.internal.vault[':vaultId'];
  return { keyId, parameters: { ...param, keyId }, key: key[':keyId'] };
}

async function refreshed(scene: Scene, scheme: KeyScheme): Promise<void> {
  const { key, parameters: param } = await keyOf(scene, scheme);
  await unwrap(key.refresh.$post({ param }));
  const isDone = async () => ((await unwrap(key.$get({ param }))).refreshing ? null : true);
  await pollUntil('a refresh', isDone, DEADLINE_MS);
}

/** Refreshes a key until two co-signers use their new shares and one does not. Returns its id. */
async function interruptedRefresh(scene: Scene): Promise<string> {
  await scene.stack.stop();
  scene.stack = await startStack({
    ...scene.options,
    cosignerEntries: [1, 2, 3].map(() => entry('stalled-cosigner.ts')),
  });
  const { key, keyId, parameters: param } = await keyOf(scene, 'ecdsa-secp256k1');
  await unwrap(key.refresh.$post({ param }));
  const isUneven = async () => {
    const { shares } = await unwrap(key.$get({ param }));
    return shares.map(({ epoch }) => epoch).join() === '2,2,1' ? true : null;
  };
  await pollUntil('two epochs', isUneven, DEADLINE_MS);
  return keyId;
}

/** Pays the treasury, and reports the payment while no RPC node answers. */
async function openDelivery(scene: Scene): Promise<string> {
  const { chains, options, treasury } = scene;
  const client = anvilClient(chains.anvilUrl);
  const account = getAddress(await chains.anvil.account(8));
  const hash = await sendTransaction(client, { account, to: getAddress(treasury.address), value: 123n });
  await client.mined(hash);
  await scene.stack.stop();
  const rpcUrls = { ...options.rpcUrls, [ANVIL]: ['http://127.0.0.1:1'] };
  scene.stack = await startStack({ ...options, rpcUrls, absent: [2, 3] });
  const status = await report(scene.stack.monitor, hash);
  if (status >= 300) throw new Error(`the report was refused with ${status}`);
  return hash;
}

const [command] = process.argv.slice(2);
if (command !== 'record') throw new Error('usage: npm run state -- record');
const root = resolve(import.meta.dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
await recordState(version);
