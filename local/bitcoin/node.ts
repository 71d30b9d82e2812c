import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Address, OutScript } from '@scure/btc-signer';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { stringifyJsonWithBigInts } from '@solana/rpc-spec-types';
import type { AcceptedTransaction, TxOut } from './transaction.ts';
import { LocalBitcoinChain } from './chain.ts';
import { Rejected } from './transaction.ts';

export interface BitcoinNode {
  readonly url: string;
  readonly chain: LocalBitcoinChain;
  /**
   * Satoshi per virtual byte, by number of blocks: the response of `fee-estimates`. A real node may
   * return odd values.
   */
  readonly rates: Record<string, unknown>;
  readonly stop: () => Promise<void>;
}

interface BitcoinOptions {
  /** A free port when absent. */
  readonly port?: number;
  /** The folder in which the chain is stored at the end, and from which it continues. */
  readonly folder?: string;
  /** Mines each accepted transaction at once. */
  readonly minesAtOnce?: boolean;
}

const PAGE = 25;

/** Starts a local regtest behind the REST interface of Esplora, as far as Conclave uses it. */
export async function startBitcoinNode({
  port = 0,
  folder,
  minesAtOnce = false,
}: BitcoinOptions = {}): Promise<BitcoinNode> {
  const chain = new LocalBitcoinChain(folder ?? null);
  const rates: Record<string, unknown> = {};
  const send = async (raw: string) => {
    const hash = chain.send(raw);
    if (minesAtOnce) chain.mine();
    return hash;
  };
  const { url, stop } = await serveEsplora(port, { chain, rates, refresh: async () => {}, send });
  return {
    url,
    chain,
    rates,
    stop: () => {
      if (folder !== undefined) chain.save(folder);
      return stop();
    },
  };
}

/** The data behind the interface. */
interface View {
  readonly chain: LocalBitcoinChain;
  readonly rates: Readonly<Record<string, unknown>>;
  /** Runs before each response: the chain may be a copy of another one. */
  readonly refresh: () => Promise<void>;
  /** Returns the hash. Throws `Rejected`. */
  readonly send: (raw: string) => Promise<string>;
}

/** Serves the interface of Esplora. @param port a free one when 0 */
export async function serveEsplora(
  port: number,
  view: View,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    // The caller may disconnect during the request. Then no response is needed.
    serve(view, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The data for responses. */
type ViewState = Pick<View, 'chain' | 'rates'>;

interface Answer {
  readonly status: number;
  readonly answer: unknown;
}

async function serve(view: View, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const sent = method === 'POST' ? await textOf(request) : null;
  await view.refresh();
  const { status, text } = await answerEsplora(view, url, sent);
  response.writeHead(status).end(text);
}

/** Returns the response of the interface. @param sent the body of a POST; null for a GET */
export async function answerEsplora(
  view: Omit<View, 'refresh'>,
  path: string,
  sent: string | null,
): Promise<{ readonly status: number; readonly text: string }> {
  const { status, answer } = sent === null ? answerTo(view, path) : await accept(view, sent);
  return { status, text: typeof answer === 'string' ? answer : stringifyJsonWithBigInts(answer) };
}

async function accept({ send }: Pick<View, 'send'>, raw: string): Promise<Answer> {
  try {
    return { status: 200, answer: await send(raw) };
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    // Esplora forwards the response of Bitcoin Core in this form.
    const inner = JSON.stringify({ code: error.code, message: error.message });
    return { status: 400, answer: `sendrawtransaction RPC error: ${inner}` };
  }
}

function answerTo(view: ViewState, url: string): Answer {
  const path = url.slice(1).split('/');
  for (const [shape, answer] of ROUTES) {
    const given = parametersIn(shape.split('/'), path);
    if (given === null) continue;
    const found = answer(view, given);
    if (found === null) return { status: 404, answer: 'Not found' };
    return found instanceof Refusal ? { status: 400, answer: found.words } : { status: 200, answer: found };
  }
  return { status: 404, answer: 'Not found' };
}

/** Returns the parameters of a path, or null when the path has another shape. */
function parametersIn(shape: readonly string[], path: readonly string[]): readonly string[] | null {
  if (shape.length !== path.length) return null;
  const fits = shape.every((part, i) => part === '*' || part === path[i]);
  return fits ? path.filter((_, i) => shape[i] === '*') : null;
}

type Route = (view: ViewState, given: readonly string[]) => unknown;

const ROUTES: readonly (readonly [string, Route])[] = [
  ['blocks/tip/height', ({ chain }) => chain.height],
  ['block/*/txids', ({ chain }, [hash = '']) => chain.hashesIn(hash)],
  ['block-height/*', ({ chain }, [height = '']) => chain.blockHash(Number.parseInt(height, 10))],
  ['fee-estimates', ({ rates }) => rates],
  ['tx/*', ({ chain }, [hash = '']) => shown(chain, chain.find(hash))],
  ['tx/*/hex', ({ chain }, [hash = '']) => chain.find(hash)?.raw ?? null],
  ['tx/*/outspend/*', ({ chain }, [hash = '', vout = '']) => spendOf(chain, hash, Number.parseInt(vout, 10))],
  ['address/*', ({ chain }, [address = '']) => statsOf(chain, address)],
  ['address/*/utxo', ({ chain }, [address = '']) => listed(unspentOf(chain, address))],
  ['address/*/txs/mempool', ({ chain }, [address = '']) => waitingOf(chain, address)],
  ['address/*/txs/chain', ({ chain }, [address = '']) => historyOf(chain, address, null)],
  ['address/*/txs/chain/*', ({ chain }, [address = '', last = '']) => historyOf(chain, address, last)],
];

function statusOf(chain: LocalBitcoinChain, hash: string) {
  const height = chain.heightOf(hash);
  return height === null
    ? { confirmed: false }
    : {
        confirmed: true,
        block_height: height,
        block_hash: chain.blockHash(height),
        block_time: 1_700_000_000 + height,
      };
}

function shown(chain: LocalBitcoinChain, taken: AcceptedTransaction | null) {
  if (taken === null) return null;
  const { hash, inputs, outputs, fee, virtualSize } = taken;
  const coinbase = { txid: '0'.repeat(64), vout: 0xffffffff, prevout: null, is_coinbase: true };
  const spends = inputs.map(({ txid, vout, spent }) => ({
    txid,
    vout,
    prevout: spent === null ? null : outputOf(spent),
    is_coinbase: false,
  }));
  return {
    txid: hash,
    vin: inputs.length === 0 ? [coinbase] : spends,
    vout: outputs.map(outputOf),
    fee,
    // The largest possible weight: only the virtual size of a transaction is known here.
    weight: virtualSize * 4n,
    status: statusOf(chain, hash),
  };
}

const NETWORK = networkOf(`bip122:${GENESIS.regtest}`);

/** Addresses by script: the library checks that a key is a point each time, which takes 0.5 ms. */
const ADDRESSES = new Map<string, string | null>();

function outputOf({ script, amount }: TxOut) {
  const scriptpubkey = bytesToHex(script);
  const address = ADDRESSES.get(scriptpubkey) ?? addressOf(script);
  ADDRESSES.set(scriptpubkey, address);
  return { scriptpubkey, value: amount, ...(address === null ? {} : { scriptpubkey_address: address }) };
}

function addressOf(script: Uint8Array): string | null {
  if (NETWORK === null) return null;
  try {
    return Address(NETWORK).encode(OutScript.decode(script));
  } catch {
    // A script without an address.
    return null;
  }
}

function spendOf(chain: LocalBitcoinChain, txid: string, vout: number) {
  // electrs returns the same for an unknown transaction as for an unspent output.
  const spender = chain.spenderOf(txid, vout);
  return spender === null
    ? { spent: false }
    : { spent: true, txid: spender.hash, status: statusOf(chain, spender.hash) };
}

function isTo(address: string): (output: TxOut) => boolean {
  const script = NETWORK === null ? null : scriptOf(NETWORK, address);
  return (output) => script !== null && Buffer.from(script).equals(output.script);
}

function statsOf(chain: LocalBitcoinChain, address: string) {
  const sum = (outputs: readonly TxOut[]) =>
    outputs.filter(isTo(address)).reduce((total, { amount }) => total + amount, 0n);
  const [funded, spent] = chain.flows();
  return { address, chain_stats: { funded_txo_sum: sum(funded), spent_txo_sum: sum(spent) } };
}

function unspentOf(chain: LocalBitcoinChain, address: string) {
  return [...chain.confirmed(), ...chain.waiting()].flatMap(({ hash, outputs }) =>
    outputs.flatMap((output, vout) =>
      isTo(address)(output) && chain.spenderOf(hash, vout) === null
        ? [{ txid: hash, vout, value: output.amount, status: statusOf(chain, hash) }]
        : [],
    ),
  );
}

/** A request exceeds a limit of the server. */
class Refusal {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

/** The default of electrs, which its operator can raise (`utxos-limit`). */
const MAX_LISTED = 500;

function listed<T>(utxos: readonly T[]): readonly T[] | Refusal {
  if (utxos.length <= MAX_LISTED) return utxos;
  return new Refusal(`Too many unspent transaction outputs (>${MAX_LISTED}). Contact support to raise limits.`);
}

function waitingOf(chain: LocalBitcoinChain, address: string) {
  return chain
    .waiting()
    .filter(concerns(address))
    .map((one) => shown(chain, one));
}

/** Reports whether a transaction pays an address or spends its outputs. */
function concerns(address: string): (taken: AcceptedTransaction) => boolean {
  const isHers = isTo(address);
  return ({ inputs, outputs }) => outputs.some(isHers) || inputs.some(({ spent }) => spent !== null && isHers(spent));
}

function historyOf(chain: LocalBitcoinChain, address: string, last: string | null) {
  const named = chain.confirmed().filter(concerns(address)).toReversed();
  const start = last === null ? 0 : named.findIndex(({ hash }) => hash === last) + 1;
  return named.slice(start, start + PAGE).map((one) => shown(chain, one));
}
