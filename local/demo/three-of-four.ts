import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAnvil } from '../evm/anvil.ts';
import type { LocalChain } from '../evm/chain.ts';
import { localChain } from '../evm/chain.ts';
import { Client, unwrap } from '../../cli/api-client.ts';
import type { RemoteCosigners } from '../stack/remote-cosigners.ts';
import { startRemoteCosigners } from '../stack/remote-cosigners.ts';
import { watchLocalChain } from '../stack/monitor.ts';
import type { Person, ReadyVault } from '../stack/provision.ts';
import { createPerson, createReadyVault } from '../stack/provision.ts';
import { ScriptDevice } from '../../cli/device/script-device.ts';
import { startStack } from '../stack/stack.ts';
import { stopped } from '../stack/stopped.ts';
import { pollUntil } from '../stack/poll.ts';

const COUNT = 4;
const THRESHOLD = 3;
const ETHER = 10n ** 18n;
const DEADLINE_MS = 60_000;
/** The limit of a token is 20 reads a minute. */
const POLL_MS = 3_000;
const FINAL = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);

type Say = (what: string, text: string) => void;

interface Signer extends Person {
  readonly device: ScriptDevice;
}

interface Scene {
  readonly say: Say;
  readonly chain: LocalChain;
  readonly vault: ReadyVault;
  readonly signers: readonly [Signer, Signer, Signer];
  readonly recipient: string;
}

/**
 * Runs the recommended set-up on this machine: four co-signers in separate processes, of which
 * three sign, and approvals that devices sign. One payment is signed while all four run, and one
 * while co-signer 2 is stopped. Throws when a check fails.
 */
export async function demoThreeOfFour(say: Say): Promise<void> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'conclave-demo-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const anvil = started.adopt(await startAnvil(), stopped);
  say('chain', `anvil at ${anvil.url}`);
  say('starting', 'four co-signers in separate runtimes, and the coordinator');
  const cosigners = started.adopt(await startRemoteCosigners(folder, COUNT), stopped);
  const options = { folder, rpcUrls: { anvil: [anvil.url] }, ...cosigners.settings };
  const stack = started.adopt(await startStack(options), stopped);
  started.adopt(await watchLocalChain(anvil.url, stack.monitor), stopped);
  const urls = Object.values(cosigners.settings.cosignerUrls ?? {});
  say('stack', `coordinator at ${stack.url}, ${urls.length} co-signers at ${urls.join(', ')}`);
  const service = new Client(stack.url, stack.serviceKey);
  const enter = async (name: string) => ({
    ...(await createPerson(service, stack.url, name)),
    device: ScriptDevice.create(),
  });
  const signers = [await enter('alice'), await enter('bob'), await enter('carol')] as const;
  const devices = signers.map(({ device }) => device);
  const terms = { name: 'Treasury', signers, threshold: 2, signingThreshold: THRESHOLD };
  const vault = await createReadyVault(service, { ...terms, approvalMode: 'device', devices });
  const chain = localChain(anvil.url);
  await chain.fund(vault.address, 10n * ETHER);
  const scene = { say, chain, vault, signers: [...signers] as const, recipient: await chain.account(5) };
  await payAndStop(scene, cosigners);
}

async function payAndStop(scene: Scene, cosigners: RemoteCosigners): Promise<void> {
  const { say, vault, signers } = scene;
  const param = { vaultId: String(vault.id) };
  const { policy } = await unwrap(signers[0].client.api.vault[':vaultId'].policy.$get({ param, query: {} }));
  expect('devices sign the approvals', policy.approvalMode === 'device' && policy.devices.length === 3);
  expect('receipts from a quorum of co-signers are sufficient', policy.signOnce === 'quorum');
  say('vault', `2 of 3 devices approve, ${THRESHOLD} of ${COUNT} co-signers sign; address ${vault.address}`);
  console.log('\nA payment with all four co-signers running');
  await pay(scene, ETHER / 4n);
  console.log('\nA payment with co-signer 2 stopped');
  await cosigners.stopOne(2);
  await pay(scene, ETHER / 8n);
}

/**
 * Runs one payment from its creation to the recipient's balance. Alice and bob approve it with
 * their devices.
 */
async function pay({ say, chain, vault, signers, recipient }: Scene, amount: bigint): Promise<void> {
  const [alice, bob, carol] = signers;
  const before = await chain.balance(recipient);
  const body = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: amount.toString() };
  const { id, state } = await alice.client.transfer(body);
  say(state, `alice creates ${id}`);
  const path = `/transaction/${id}/approve`;
  const bare = await alice.client.request('POST', path);
  expect('an approval without a device signature is refused', bare.status >= 400);
  for (const { name, client, device } of [alice, bob]) {
    const { digest } = await client.challenge(id);
    const json = device.sign(digest);
    const after = await unwrap(client.api.transaction[':txId'].approve.$post({ param: { txId: id }, json }));
    say(after.state, `${name} approves with a device, ${after.approvalsCounted} of ${after.requiredApprovals}`);
  }
  const ended = async () => {
    const record = await carol.client.read(id);
    return FINAL.has(record.state) ? record : null;
  };
  const record = await pollUntil(`end of ${id}`, ended, DEADLINE_MS, POLL_MS);
  expect(`the payment succeeds (${record.stateReason ?? 'no reason given'})`, record.state === 'SUCCEEDED');
  expect('the recipient received exactly the amount', (await chain.balance(recipient)) - before === amount);
  say(record.state, record.txHash ?? '');
}

function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`Check failed: ${what}`);
}
