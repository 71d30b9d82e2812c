import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { address, getAddressEncoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { Client, unwrap } from '#cli/api-client.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import { startStack } from '#local/stack/stack.ts';
import type { FalseNode } from '../chains/false-node.ts';
import { startFalseNode } from '../chains/false-node.ts';
import { pack } from './golden-state.ts';
import type { StoppedWallet } from './stopped-wallet.ts';
import { AMOUNT, recipient, SOLANA, stackOptionsOn, STOPPED_WALLET } from './stopped-wallet.ts';

/**
 * Writes the state that `stopped-wallet.ts` opens. The code of release 0.2.0 must write it, because
 * later releases do not sign these bytes: check out the commit that packed `test/states/0.2.0`,
 * build, copy `test/states/*.ts` of this commit there, and run this file with Node.
 */

const DEADLINE_MS = 120_000;
/** The nonce slots of a wallet. */
const SLOTS = 16;
/** A nonce account has this size. */
const NONCE_BYTES = 80;

async function recordStoppedWallet(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-record-'));
  const node = await startSolanaNode({ folder });
  const liar = await startFalseNode(node.url);
  const silent = await startFalseNode(node.url);
  const options = stackOptionsOn(folder, [liar.url, silent.url]);
  const stack = await startStack(options);
  const service = new Client(stack.url, stack.serviceKey);
  const alice = await createPerson(service, stack.url, 'alice');
  const vault = await createReadyVault(service, {
    name: 'treasury',
    signers: [alice],
    threshold: 1,
    chains: [SOLANA],
    isOnAnvil: false,
  });
  const wallet = address(vault.addresses[SOLANA] ?? '');
  node.chain.airdrop(wallet, 10n ** 10n);

  const { client } = alice;
  const until = (id: string, isReached: (record: TransactionRecord) => boolean) =>
    pollUntil(
      `state of ${id}`,
      async () => {
        const record = await client.read(id);
        return isReached(record) ? record : null;
      },
      DEADLINE_MS,
    );
  const approved = async (i: number): Promise<string> => {
    const body = { vaultId: vault.id, chain: SOLANA, to: recipient(i), amount: AMOUNT.toString() };
    const { id } = await client.transfer(body);
    await client.approve(id);
    return id;
  };

  inventNonces({ node, liar, silent, wallet });
  const stuck: string[] = [];
  for (let i = 0; i < SLOTS; i++) stuck.push(await approved(i));
  for (const id of stuck) await until(id, ({ state }) => state === 'BROADCAST');
  // From here on both RPC nodes are honest.
  for (const one of [liar, silent]) one.follow(() => 'forward');
  const waiting = await approved(SLOTS);
  await until(waiting, ({ stateReason }) => stateReason === 'WALLET_BUSY');
  const [spedUp = '', cancelled = ''] = stuck;
  const { transaction } = client.api;
  await unwrap(transaction[':txId']['speed-up'].$post({ param: { txId: spedUp } }));
  await unwrap(transaction[':txId'].cancel.$post({ param: { txId: cancelled } }));
  await until(spedUp, ({ stateReason }) => stateReason === 'REPRICING');
  await until(cancelled, ({ stateReason }) => stateReason === 'CANCELLING');
  for (const id of [...stuck, waiting]) {
    const { state, stateReason, attempts } = await client.read(id);
    console.log(id, state, stateReason, attempts.length);
  }
  for (let i = 0; i < SLOTS; i++) {
    if (node.chain.account(nonceAccountOf(wallet, i)) !== null) throw new Error(`account ${i} exists`);
  }

  const held: StoppedWallet = {
    recordedAtMs: Date.now(),
    token: alice.token,
    vaultId: vault.id,
    wallet,
    stuck,
    spedUp,
    cancelled,
    waiting,
  };
  await stack.stop();
  for (const one of [liar, silent, node]) await one.stop();
  pack(folder, STOPPED_WALLET, ['solana.json']);
  writeFileSync(join(STOPPED_WALLET, 'stopped.json'), `${JSON.stringify(held, null, 2)}\n`);
  await rm(folder, { recursive: true, force: true });
}

interface Lie {
  readonly node: SolanaNode;
  readonly liar: FalseNode;
  readonly silent: FalseNode;
  readonly wallet: Address;
}

/**
 * Makes one RPC node state that the nonce accounts of a wallet are open, while the other one does
 * not answer these calls. Both answer honestly about final states, and all other calls.
 */
function inventNonces({ node, liar, silent, wallet }: Lie): void {
  const accounts = Array.from({ length: SLOTS }, (_, i) => nonceAccountOf(wallet, i));
  const isAsked = (method: string, [addresses, options]: readonly unknown[]) =>
    method === 'getMultipleAccounts' &&
    (addresses as readonly Address[]).every((one) => accounts.includes(one)) &&
    (options as { readonly commitment?: string }).commitment !== 'finalized';
  const data = new Uint8Array(NONCE_BYTES);
  // The version and the state of an open nonce account, its authority, and its nonce.
  data.set([1, 0, 0, 0, 1, 0, 0, 0]);
  data.set(getAddressEncoder().encode(wallet), 8);
  data.fill(7, 40, 72);
  const account = {
    lamports: 1_447_680,
    owner: SYSTEM_PROGRAM_ADDRESS,
    data: [Buffer.from(data).toString('base64'), 'base64'],
    executable: false,
  };
  liar.follow((method, params) =>
    isAsked(method, params)
      ? { result: { context: { slot: Number.parseInt(node.chain.slot.toString(), 10) }, value: [account] } }
      : 'forward',
  );
  silent.follow((method, params) =>
    isAsked(method, params) ? { error: { code: -32_005, message: 'Node is behind' } } : 'forward',
  );
}

await recordStoppedWallet();
