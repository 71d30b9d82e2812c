import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { decimalText } from '#domain/asset/amount.ts';
import { LocalBitcoinChain } from './chain.ts';
import { Rejected } from './transaction.ts';
import { serveEsplora } from './node.ts';
import { firstExecutable, filesOnPath } from '../stack/executable.ts';
import { pollUntil } from '../stack/poll.ts';

/** Coinbase outputs of the first blocks are spendable a hundred blocks later. */
const FIRST_BLOCKS = 110;
const START_DEADLINE_MS = 60_000;

/** A regtest of Bitcoin Core, behind the same Esplora interface as the one in this process. */
export interface Bitcoind {
  readonly url: string;
  /** The chain and mempool of the node, as of the last request to the interface. */
  readonly chain: LocalBitcoinChain;
  /** Satoshi per virtual byte, by number of blocks: the response of `fee-estimates`. */
  readonly rates: Record<string, unknown>;
  /** Pays satoshi from mined funds to an address, in a block when `mined`. Returns the hash. */
  readonly pay: (address: string, amount: bigint, mined?: boolean) => Promise<string>;
  /** Mines the mempool into a block, and then empty blocks. */
  readonly mine: (blocks?: number) => Promise<void>;
  /**
   * Replaces the newest blocks by empty blocks, one more than before. Their transactions return to
   * the mempool.
   */
  readonly reorganise: (blocks: number) => Promise<void>;
  /** Updates `chain` from the node. */
  readonly refresh: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Returns the binary that `BITCOIND` names, else one on the PATH; null when there is none. */
export function findBitcoind(): string | null {
  const named = process.env['BITCOIND'];
  return firstExecutable(named === undefined ? filesOnPath('bitcoind') : [named]);
}

export async function startBitcoind(binary: string): Promise<Bitcoind> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-bitcoind-'));
  const [port, password] = [await freePort(), bytesToHex(randomBytes(16))];
  const child = spawn(binary, argumentsOf(folder, port, password), { stdio: 'ignore' });
  // An interrupted test run must not leave a node behind.
  const abandon = () => child.kill('SIGKILL');
  process.once('exit', abandon);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const node = new Rpc(`http://127.0.0.1:${port}/`, password);
  await pollUntil('bitcoind', () => answers(node, child), START_DEADLINE_MS);
  await node.request('createwallet', ['miner']);
  const home = await node.request<string>('getnewaddress', []);
  await node.request('generatetoaddress', [FIRST_BLOCKS, home]);
  const chain = new LocalBitcoinChain();
  let looking: Promise<void> = Promise.resolve();
  // Refreshes run one after the other, even for concurrent callers.
  const refresh = () => (looking = looking.catch(() => {}).then(() => mirror(node, chain)));
  await refresh();
  const rates: Record<string, unknown> = {};
  const server = await serveEsplora(0, { chain, rates, refresh, send: (raw) => node.send(raw) });
  return {
    url: server.url,
    chain,
    rates,
    refresh,
    pay: async (address, amount, mined = true) => {
      const hash = await node.request<string>('sendtoaddress', [address, decimalText(amount, 8)]);
      // The block takes the transaction by its bytes: the node's own wallet may add it to the
      // mempool later, so a block that names its hash would not find it.
      if (mined) await node.request('generateblock', [home, [await bytesOf(node, hash)]]);
      await refresh();
      return hash;
    },
    mine: async (blocks = 1) => {
      await node.request('generatetoaddress', [blocks, home]);
      await refresh();
    },
    reorganise: async (blocks) => {
      const lost = chain.blockHash(chain.height - blocks + 1);
      await node.request('invalidateblock', [lost]);
      for (let i = 0; i <= blocks; i++) await node.request('generateblock', [home, []]);
      await refresh();
    },
    stop: async () => {
      await server.stop();
      process.off('exit', abandon);
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function argumentsOf(folder: string, port: number, password: string): readonly string[] {
  return [
    '-regtest',
    `-datadir=${folder}`,
    '-listen=0',
    '-dnsseed=0',
    '-server',
    `-rpcport=${port}`,
    '-rpcuser=conclave',
    `-rpcpassword=${password}`,
    '-fallbackfee=0.00002',
    '-dbcache=16',
    '-printtoconsole=0',
  ];
}

async function bytesOf(node: Rpc, hash: string): Promise<string> {
  const { hex } = await node.request<{ readonly hex: string }>('gettransaction', [hash]);
  return hex;
}

/** Returns a free port, since bitcoind cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

/** Returns null while the node starts. Throws when it has ended. */
async function answers(node: Rpc, child: ChildProcess): Promise<true | null> {
  if (child.exitCode !== null) throw new Error(`bitcoind exited with code ${child.exitCode}`);
  try {
    await node.request('getblockcount', []);
    return true;
  } catch {
    return null;
  }
}

class Rpc {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, password: string) {
    this.#url = url;
    const credential = Buffer.from(`conclave:${password}`).toString('base64');
    this.#headers = { authorization: `Basic ${credential}`, 'content-type': 'application/json' };
  }

  /**
   * Sends a request. Amounts in responses are decimal numbers, and none of them is used. Throws
   * `Rejected` with the text of the node.
   */
  async request<T>(method: string, params: readonly unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
    const answer = await fetch(this.#url, { method: 'POST', headers: this.#headers, body });
    const response = (await answer.json()) as { readonly result: T; readonly error: RpcError | null };
    if (response.error !== null) throw new Rejected(response.error.message, response.error.code);
    return response.result;
  }

  send(raw: string): Promise<string> {
    return this.request('sendrawtransaction', [raw]);
  }
}

interface RpcError {
  readonly code: number;
  readonly message: string;
}

interface BlockAnswer {
  readonly tx: readonly { readonly hex: string }[];
}

/** Updates the local chain from the node: blocks from the first different one, and the mempool. */
async function mirror(node: Rpc, chain: LocalBitcoinChain): Promise<void> {
  const height = await node.request<number>('getblockcount', []);
  const hashAt = (at: number) => node.request<string>('getblockhash', [at]);
  let common = Math.min(height, chain.height);
  while (common > 0 && (await hashAt(common)) !== chain.blockHash(common)) common -= 1;
  const blocks: { readonly hash: string; readonly raws: readonly string[] }[] = [];
  for (let at = common + 1; at <= height; at++) {
    const hash = await hashAt(at);
    const { tx } = await node.request<BlockAnswer>('getblock', [hash, 2]);
    blocks.push({ hash, raws: tx.map(({ hex }) => hex) });
  }
  const waiting: string[] = [];
  for (const hash of await node.request<readonly string[]>('getrawmempool', [])) {
    waiting.push(await node.request<string>('getrawtransaction', [hash]));
  }
  chain.mirror(common, blocks, waiting);
}
