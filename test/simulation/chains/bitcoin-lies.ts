import { bytesToHex } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';
import type { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { AcceptedTransaction } from '#local/bitcoin/transaction.ts';
import { hashOf, Rejected } from '#local/bitcoin/transaction.ts';
import type { FalseAnswer } from './lies.ts';
import { FAR, lyingAs } from './lies.ts';

const AHEAD = 1_000;
const DEPTH = 8;
const FAR_HEIGHT = Number.parseInt(FAR.toString(), 10);
/**
 * The amount of the false UTXO in satoshi. It is the largest UTXO of the wallet, so the service
 * spends it first.
 */
const FALSE_AMOUNT = 100_000_000n;
/** A thousand bitcoin. */
const MUCH = 100_000_000_000n;

interface View {
  readonly chain: LocalBitcoinChain;
  readonly rates: Readonly<Record<string, number>>;
}

/**
 * Returns the view of a Bitcoin server that gives this false answer. @param wallet script of the
 * wallet for which the server invents UTXOs; null before it is known
 */
export function lyingServer(lie: FalseAnswer, { chain, rates }: View, wallet: Uint8Array | null): View {
  const isWaiting = (hash: string) => chain.waiting().some((one) => one.hash === hash);
  switch (lie) {
    case 'false-inclusion': {
      const deep = Math.max(0, chain.height - DEPTH);
      const heightOf = (hash: string) => (isWaiting(hash) ? deep : chain.heightOf(hash));
      return { rates, chain: lyingAs(chain, { heightOf }) };
    }
    case 'far-inclusion': {
      const heightOf = (hash: string) => (isWaiting(hash) ? FAR_HEIGHT : chain.heightOf(hash));
      const blockHash = (height: number) => (height === FAR_HEIGHT ? '5e'.repeat(32) : chain.blockHash(height));
      return { rates, chain: lyingAs(chain, { heightOf, blockHash, height: FAR_HEIGHT + 100 }) };
    }
    case 'false-depth':
      return { rates, chain: lyingAs(chain, { height: chain.height + AHEAD }) };
    case 'false-rate':
      return {
        chain,
        rates: Object.fromEntries(Object.entries(rates).map(([blocks, rate]) => [blocks, rate * 1_000])),
      };
    case 'false-coin':
      return { rates, chain: wallet === null ? chain : withFalseUtxo(chain, wallet) };
    case 'false-contents':
      return { rates, chain: lyingAs(chain, { find: (hash: string) => withMore(chain.find(hash), wallet) }) };
    case 'old-list':
      return { rates, chain: wallet === null ? chain : withSpentUtxos(chain, wallet) };
    // The server answers truly of its own mempool: see `withHeld`.
    case 'unrelayed':
    case 'false-finality':
    case 'false-nonce':
    case 'false-gas':
    case 'false-account':
      return { chain, rates };
  }
}

/**
 * Adds the transactions that the server has accepted and not relayed to its own mempool, except for
 * those that a block excludes by now. @param own a copy of the chain
 */
export function withHeld(own: LocalBitcoinChain, held: ReadonlySet<string>): LocalBitcoinChain {
  for (const raw of held) {
    try {
      own.send(raw);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
    }
  }
  return own;
}

/** Accepts a transaction for the server's own mempool. Throws `Rejected` as Bitcoin Core would. */
export function hold(own: LocalBitcoinChain, held: Set<string>, raw: string): string {
  const hash = own.send(raw);
  held.add(raw);
  return hash;
}

/** Returns a chain in which the wallet has the UTXOs that it has spent, and no others. */
function withSpentUtxos(chain: LocalBitcoinChain, wallet: Uint8Array): LocalBitcoinChain {
  const own = Buffer.from(wallet);
  const spent = chain
    .confirmed()
    .filter(({ hash, outputs }) =>
      outputs.some(({ script }, vout) => own.equals(script) && chain.spenderOf(hash, vout) !== null),
    );
  return spent.length === 0
    ? chain
    : lyingAs(chain, { confirmed: () => spent, waiting: () => [], spenderOf: () => null });
}

/** Returns a transaction with one more output, which pays the wallet, and a larger fee. */
function withMore(made: AcceptedTransaction | null, wallet: Uint8Array | null): AcceptedTransaction | null {
  if (made === null || wallet === null) return made;
  return { ...made, fee: made.fee * 3n, outputs: [...made.outputs, { script: wallet, amount: MUCH }] };
}

/**
 * Returns a chain in which a real block has one more transaction, which pays the wallet. Its bytes
 * have the hash under which it is listed.
 */
function withFalseUtxo(chain: LocalBitcoinChain, wallet: Uint8Array): LocalBitcoinChain {
  const made = falseDeposit(wallet);
  const height = Math.max(0, chain.height - DEPTH);
  return lyingAs(chain, {
    confirmed: () => [...chain.confirmed(), made],
    find: (hash: string) => (hash === made.hash ? made : chain.find(hash)),
    heightOf: (hash: string) => (hash === made.hash ? height : chain.heightOf(hash)),
  });
}

/**
 * Returns a transaction that spends a UTXO that never existed. It is the same for the same wallet,
 * so that a history can be repeated.
 */
function falseDeposit(wallet: Uint8Array): AcceptedTransaction {
  const txid = new Uint8Array(32).fill(0xfa);
  const encoded = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [{ txid, index: 0, finalScriptSig: new Uint8Array(), sequence: 0xffffffff }],
    outputs: [{ amount: FALSE_AMOUNT, script: wallet }],
    lockTime: 0,
    witnesses: undefined,
  });
  const raw = bytesToHex(Uint8Array.from(encoded));
  return {
    hash: hashOf(raw),
    raw,
    inputs: [{ txid: bytesToHex(txid), vout: 0, spent: { script: wallet, amount: FALSE_AMOUNT } }],
    outputs: [{ script: wallet, amount: FALSE_AMOUNT }],
    fee: 1_000n,
    virtualSize: 110n,
    isReplaceable: false,
  };
}
