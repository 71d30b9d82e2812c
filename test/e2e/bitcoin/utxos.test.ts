import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { BTC, stranger } from '../../chains/bitcoin/cast.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/** Covers UTXOs that never existed, or that a reorganisation removed, with the whole stack. */

const CHAIN = 'bitcoin-regtest';

let node: BitcoinNode;
let world: World;
/** A proxy in front of the RPC node that can list a UTXO that does not exist. */
let server: { readonly url: string; listsFalseUtxo: boolean; readonly stop: () => void };

beforeAll(async () => {
  node = await startBitcoinNode();
  server = await startServer();
  world = await startWorld({ bitcoinUrl: server.url });
});
afterAll(async () => {
  await world.end();
  server.stop();
  await node.stop();
});

async function startServer() {
  const one = { listsFalseUtxo: false };
  const answer = async (method: string, path: string, body: string) => {
    const response = await fetch(`${node.url}${path}`, { method, body: method === 'GET' ? null : body });
    const text = await response.text();
    if (!one.listsFalseUtxo || !path.endsWith('/utxo')) return { status: response.status, text };
    const status = { confirmed: true, block_height: 1, block_hash: node.chain.blockHash(1) };
    const utxos: unknown[] = JSON.parse(text);
    return {
      status: 200,
      text: JSON.stringify([...utxos, { txid: 'ab'.repeat(32), vout: 0, value: 150_000_000, status }]),
    };
  };
  const listener = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = 'GET', url = '/' } = request;
      answer(method, url, body).then(
        ({ status, text }) => response.writeHead(status).end(text),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const bound = listener.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  const stop = () => void (listener.closeAllConnections(), listener.close());
  return Object.assign(one, { url: `http://127.0.0.1:${bound.port}`, stop });
}

async function wallet(name: string) {
  const vault = await world.vault(name, { chains: [CHAIN] });
  const pay = (to: string) => world.approved({ vaultId: vault.id, chain: CHAIN, to, amount: BTC.toString() });
  return { address: vault.addresses[CHAIN] ?? '', pay };
}

const stand = ({ state, stateReason }: TransactionRecord) => [state, stateReason];

test('a payment never uses a UTXO that a server lists and that does not exist', async () => {
  const { address, pay } = await wallet('lied to');
  const real = node.chain.fund(address, 2n * BTC);
  server.listsFalseUtxo = true;
  const to = stranger();
  const id = await pay(to);
  await taken(world.people().alice, id);
  node.chain.mine(2);
  const done = await finished(world.people().alice, id);
  server.listsFalseUtxo = false;
  expect([stand(done), node.chain.balance(to)]).toEqual([['SUCCEEDED', null], BTC]);
  expect(node.chain.find(done.txHash ?? '')?.inputs.map(({ txid }) => txid)).toEqual([real]);
});

test('a deposit that a deep reorganisation removes ends its payment once that is final, and not before', async () => {
  const { address, pay } = await wallet('robbed');
  const { alice } = world.people();
  const deposit = node.chain.fund(address, 2n * BTC);
  node.chain.mine(2);
  const id = await pay(stranger());
  await taken(alice, id);
  node.chain.doubleSpend(3, deposit);
  const waiting = await reaches(
    alice,
    id,
    ({ state, stateReason }) => state === 'FAILED' || stateReason === 'COIN_UNKNOWN',
  );
  expect(stand(waiting)).toEqual(['BROADCAST', 'COIN_UNKNOWN']);
  node.chain.mine(6);
  expect(stand(await finished(alice, id))).toEqual(['FAILED', 'CONFLICTED']);
});

test('a person can end a payment only while its end is unknown, and only with an acknowledgement', async () => {
  const { address, pay } = await wallet('in doubt');
  const { alice, mallory } = world.people();
  node.chain.fund(address, 2n * BTC);
  const id = await pay(stranger());
  await taken(alice, id);
  const end = ({ client }: typeof alice) =>
    client.request<TransactionRecord>('POST', `/transaction/${id}/cancel`, { body: { acknowledge: 'COIN_UNKNOWN' } });
  expect((await end(alice)).status).toBe(409);
  node.chain.reorganise(1);
  const waiting = await reaches(alice, id, ({ stateReason }) => stateReason === 'COIN_UNKNOWN');
  expect(waiting.actionsForMe).toContain('end-unknown');
  expect((await end(mallory)).status).toBe(403);
  for (let time = 0; time < 2; time++) {
    const ended = await end(alice);
    expect([ended.status, stand(ended.body)]).toEqual([200, ['FAILED', 'COIN_UNKNOWN']]);
  }
});
