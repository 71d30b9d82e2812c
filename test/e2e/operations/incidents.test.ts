import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Hex } from 'viem';
import { keccak256 } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newCosignerSecrets } from '#local/stack/configuration.ts';
import { report } from '#local/stack/monitor.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { StackOptions } from '#local/stack/stack.ts';
import { request } from '../../chains/evm/local-chain.ts';
import type { Gate } from '../rpc-proxy.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld } from '../world.ts';
import type { AlertReceiver } from './alert-receiver.ts';
import { startAlertReceiver } from './alert-receiver.ts';
import { operatorCommand } from './operator-command.ts';

/**
 * Covers incidents of a running service, on a real stack: which alert an operator receives at the
 * next quarter of an hour, that it names the part at fault, that the runbook has a section about
 * it, and that a payment which waited goes on after the repair.
 */

const RECIPIENT = '0x00000000000000000000000000000000a9a27000';
const RUNBOOK = readFileSync('docs/runbook.md', 'utf8');

let world: World;
let receiver: AlertReceiver;
let vault: ReadyVault;
let quarter = 0;

beforeAll(async () => {
  receiver = await startAlertReceiver();
  world = await startWorld({ hasSecondNode: true });
  vault = await world.vault('treasury');
  await restarted({});
  await receives('alert.open recovery-key-missing:1, 2, 3');
});
afterAll(async () => {
  await world.end();
  await receiver.stop();
});
beforeEach(() => {
  for (const gate of [world.gate, world.secondGate]) gate.falsify(null);
});

/** Everything that the operator has received. */
const inbox: string[] = [];

/** Runs the sweep of the next quarter of an hour. Returns what the operator receives. */
async function swept(): Promise<readonly string[]> {
  const { received } = await receiver.sweptAt(world.stack(), quarter);
  quarter += 1;
  inbox.push(...received);
  for (const line of received) expect(RUNBOOK).toContain(`\n### ${/^alert[.][a-z]+ ([a-z-]+)/.exec(line)?.[1]}\n`);
  return received;
}

/** Waits until the operator has received these alerts. The read model may lag behind a vault. */
async function receives(...ids: readonly string[]): Promise<void> {
  const arrived = async () => {
    await swept();
    return ids.every((id) => inbox.includes(id)) ? true : null;
  };
  await pollUntil(ids.join(), arrived, 60_000);
  for (const id of ids) inbox.splice(inbox.indexOf(id), 1);
}

async function restarted({ variables, ...differences }: Partial<StackOptions>): Promise<void> {
  await world.stack().stop();
  await world.restart({ ...differences, variables: { ...receiver.variables, ...variables } });
}

const payment = () => world.approved({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1' });
const stateOf = async (id: string) => (await finished(world.people().alice, id)).state;
const reasonOf = async (id: string) =>
  (await reaches(world.people().alice, id, ({ stateReason }) => stateReason !== null)).stateReason;
/** Returns the receipt of a transfer in this block, as an RPC node gives it. */
const receiptIn = ({ hash, number }: { readonly hash: Hex; readonly number: Hex }, transactionHash: Hex) => ({
  transactionHash,
  transactionIndex: '0x0',
  blockHash: hash,
  blockNumber: number,
  status: '0x1',
  gasUsed: '0x5208',
  cumulativeGasUsed: '0x5208',
  effectiveGasPrice: '0x3b9aca00',
  contractAddress: null,
  logs: [],
  logsBloom: `0x${'00'.repeat(256)}`,
  type: '0x2',
});
const hostOf = (gate: Gate) => new URL(gate.url).host;

test('an RPC node that is away is named, and payments wait for it', async () => {
  world.secondGate.close(503);
  const id = await payment();
  expect(await reasonOf(id)).toBe('SECOND_NODE_AWAY');
  const alert = `rpc-node-away:anvil ${hostOf(world.secondGate)}`;
  await receives(`alert.open ${alert}`);
  world.secondGate.close(null);
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await receives(`alert.resolved ${alert}`);
});

test('an RPC node that serves another chain is named', async () => {
  world.secondGate.falsify((method) => (method === 'eth_chainId' ? { result: '0x1' } : undefined));
  const id = await payment();
  expect(await reasonOf(id)).toBe('SECOND_NODE_AWAY');
  const alert = `rpc-node-other-chain:anvil ${hostOf(world.secondGate)}`;
  await receives(`alert.open ${alert}`);
  world.secondGate.falsify(null);
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await receives(`alert.resolved ${alert}`);
});

test('one RPC node that lies about nonces, balances or fees stops no payment', async () => {
  world.secondGate.falsify((method) => {
    if (method === 'eth_getTransactionCount') return { result: '0x99' };
    return method === 'eth_getBalance' ? { result: '0x0' } : undefined;
  });
  expect(await stateOf(await payment())).toBe('SUCCEEDED');
  expect((await swept()).filter((line) => line.startsWith('alert.open rpc'))).toEqual([]);
});

test('a payment whose receipt one RPC node does not show waits for the node', async () => {
  world.secondGate.forget(['eth_getTransactionReceipt']);
  const id = await payment();
  expect(await reasonOf(id)).toBe('SECOND_NODE_AWAY');
  world.secondGate.forget([]);
  expect(await stateOf(id)).toBe('SUCCEEDED');
});

test.each(['first', 'second'])(
  'a payment that the %s RPC node calls reverted waits, with the reason',
  async (which) => {
    const gate = which === 'first' ? world.gate : world.secondGate;
    const other = which === 'first' ? world.secondGate : world.gate;
    gate.falsify(async (method, params) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      const result = await request(world.chainUrl, method, params);
      return { result: result === null ? null : { ...result, status: '0x0', logs: [] } };
    });
    const id = await payment();
    expect(await reasonOf(id)).toBe('NODES_DISAGREE');
    await receives('alert.open unexplained-transactions');
    expect(other.said.length).toBeGreaterThan(0);
    gate.falsify(null);
    expect(await stateOf(id)).toBe('SUCCEEDED');
    await receives('alert.resolved unexplained-transactions');
  },
);

test('a payment that one RPC node swallows, with an invented receipt, waits and is paid once', async () => {
  const before = await world.chain.balance(RECIPIENT);
  world.gate.falsify(async (method, [sent]) => {
    if (method === 'eth_sendRawTransaction') return { result: keccak256(sent as Hex) };
    if (method !== 'eth_getTransactionReceipt') return undefined;
    const block = (await request(world.chainUrl, 'eth_getBlockByNumber', ['latest', false])) as {
      readonly hash: Hex;
      readonly number: Hex;
    };
    return { result: receiptIn(block, sent as Hex) };
  });
  // The other node gets nothing of it.
  world.secondGate.falsify((method) =>
    method === 'eth_sendRawTransaction' ? { error: { code: -32_603, message: 'no peers' } } : undefined,
  );
  const id = await payment();
  await reaches(world.people().alice, id, ({ stateReason }) => stateReason === 'NODES_DISAGREE');
  await receives('alert.open unexplained-transactions');
  for (const gate of [world.gate, world.secondGate]) gate.falsify(null);
  expect(await stateOf(id)).toBe('SUCCEEDED');
  expect(await world.chain.balance(RECIPIENT)).toBe(before + 1n);
  await receives('alert.resolved unexplained-transactions');
});

test('a co-signer that is away is named, and a payment waits when a second one is', async () => {
  await restarted({ absent: [3] });
  expect(await stateOf(await payment())).toBe('SUCCEEDED');
  await receives('alert.open cosigner-away:3');
  await restarted({ absent: [2, 3] });
  const id = await payment();
  expect(await reasonOf(id)).toBe('SIGNER_UNAVAILABLE');
  const why = await operatorCommand(world.stack(), ['why', id]);
  expect(why).toContain('SIGNING (SIGNER_UNAVAILABLE)');
  expect(why).toMatch(/Co-signer 2 is unavailable: .*\nCo-signer 3 is unavailable: /);
  await receives('alert.open cosigner-away:2');
  await restarted({});
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await receives('alert.resolved cosigner-away:2', 'alert.resolved cosigner-away:3');
});

test('a wrong key-encryption secret is named with its setting, before a payment needs it', async () => {
  const file = join(world.folder, 'secrets.json');
  const right = readFileSync(file, 'utf8');
  const secrets = JSON.parse(right) as { cosigners: { keyEncryption: string }[] };
  for (const i of [1, 2]) {
    const { keyEncryption } = newCosignerSecrets();
    secrets.cosigners[i] = { ...secrets.cosigners[i], keyEncryption };
  }
  writeFileSync(file, JSON.stringify(secrets));
  await restarted({});
  await receives('alert.open share-unreadable:2, 3');
  const id = await payment();
  expect(await reasonOf(id)).toBe('SIGNER_UNAVAILABLE');
  writeFileSync(file, right);
  await restarted({});
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await receives('alert.resolved share-unreadable:2, 3');
});

test('a co-signer whose storage is lost is named', async () => {
  const storage = join(world.folder, 'state', 'v3', 'do', 'conclave-cosigner-3-CosignerObject');
  await world.stack().stop();
  renameSync(storage, `${storage}-kept`);
  await restarted({});
  await receives('alert.open share-missing:3');
  expect(await stateOf(await payment())).toBe('SUCCEEDED');
  await world.stack().stop();
  rmSync(storage, { recursive: true });
  renameSync(`${storage}-kept`, storage);
  await restarted({});
  await receives('alert.resolved share-missing:3');
});

test('a co-signer whose clock differs is named before it refuses requests, and after', async () => {
  const entry = (name: string) => resolve(import.meta.dirname, '..', '..', '..', name);
  const cosignerEntries = [1, 2].map(() => entry('src/cosigner-worker.ts'));
  cosignerEntries.push(entry('test/states/moved-cosigner.ts'));
  await restarted({ cosignerEntries, variables: { CLOCK_OFFSET_MS: '-45000' } });
  await receives('alert.open clock-skew:3');
  expect(await stateOf(await payment())).toBe('SUCCEEDED');
  await restarted({});
  await receives('alert.resolved clock-skew:3');
});

test('a queue without a consumer is named, and its work goes on when it has one', async () => {
  await restarted({ unconsumedQueue: 'conclave-signing' });
  const id = await payment();
  await receives('alert.open queue-stalled:signing');
  expect((await world.people().alice.client.read(id)).state).toBe('SIGNING');
  await restarted({});
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await receives('alert.resolved queue-stalled:signing');
});

test('a monitor that is silent is found by the payments that only scans have found', async () => {
  const { alice } = world.people();
  const wei = 10n ** 17n;
  await world.chain.fund(vault.address, wei);
  await alice.client.requestRescan(vault.id);
  const deposit = async () => {
    const { transactions } = await alice.client.transactions(vault.id);
    return transactions.find(({ amount }) => amount === wei.toString())?.txHash ?? null;
  };
  const txHash = await pollUntil('the deposit', deposit, 60_000);
  await receives('alert.open monitor-silent');
  await report(world.stack().monitor, txHash);
  await receives('alert.resolved monitor-silent');
});

/** Changes D1 while the stack is stopped. */
async function changeDatabase(change: (database: DatabaseSync) => void): Promise<void> {
  await world.stack().stop();
  const folder = join(world.folder, 'state', 'v3', 'd1', 'miniflare-D1DatabaseObject');
  const [name = ''] = readdirSync(folder).filter((one) => /^[0-9a-f]+[.]sqlite$/.test(one));
  const database = new DatabaseSync(join(folder, name));
  change(database);
  database.close();
  await restarted({});
}

test('a table that D1 lost is named by the steps that need it, and payments go on', async () => {
  await changeDatabase((database) => database.exec('ALTER TABLE transactions RENAME TO lost'));
  const { alice } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1' });
  await world.approve(id);
  await receives('alert.open sweep-step-failed');
  expect(await stateOf(id)).toBe('SUCCEEDED');
  await changeDatabase((database) => database.exec('ALTER TABLE lost RENAME TO transactions'));
});

test('stores that take no writes are named, and payments go on when they do', async () => {
  const tablesOf = (database: DatabaseSync) =>
    database
      .prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
      )
      .all()
      .map(({ name }) => String(name));
  const full = "SELECT RAISE(ABORT, 'database or disk is full');";
  await changeDatabase((database) => {
    for (const table of tablesOf(database)) {
      for (const write of ['INSERT', 'UPDATE', 'DELETE']) {
        database.exec(`CREATE TRIGGER full_${write}_${table} BEFORE ${write} ON "${table}" BEGIN ${full} END`);
      }
    }
  });
  await receives('alert.open sweep-step-failed');
  const id = await payment();
  await changeDatabase((database) => {
    for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'full_%'").all()) {
      database.exec(`DROP TRIGGER "${String(name)}"`);
    }
  });
  expect(await stateOf(id)).toBe('SUCCEEDED');
});
