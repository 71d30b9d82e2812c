import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { Transaction } from '@scure/btc-signer';
import { scriptOf, segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import type { AcceptedTransaction, TxOut } from '#local/bitcoin/transaction.ts';
import type { Moved, Payment, SimulatedChain } from './chain.ts';
import type { Schedule } from '../schedule.ts';
import { CALM } from '../schedule.ts';

const CAIP2 = `bip122:${GENESIS.regtest}`;
const NETWORK = networkOf(CAIP2);
/** One bitcoin in satoshi. */
const BTC = 100_000_000n;
/** The fee of a deposit in satoshi. */
const STRANGERS_FEE = 100_000n;
/** The lowest and the highest fee rate, in thousandths of a satoshi per virtual byte. */
const [CHEAPEST, DEAREST] = [1_000n, 60_000n];
const MAX_PER_BLOCK = 3;
/** The number of UTXOs of the outside payer, one for each deposit. */
const FOREIGN_UTXOS = 16;

/**
 * Returns the person with this number. The private key of a person is public, because only the
 * wallet's funds matter in the simulation.
 */
function person(number: number) {
  if (NETWORK === null) throw new Error('regtest is a network');
  const key = hexToBytes(number.toString(16).padStart(64, '0'));
  const address = segwitAddressOf(NETWORK, secp256k1.getPublicKey(key));
  return { key, address, script: scriptFor(address) };
}

function scriptFor(address: string): Uint8Array {
  const script = NETWORK === null ? null : scriptOf(NETWORK, address);
  if (script === null) throw new Error('no address of regtest');
  return script;
}

/**
 * A simulated regtest. The local chain accepts what Bitcoin Core accepts; a block includes at most
 * three transactions that pay enough; the minimum fee rate changes from block to block.
 */
export class BitcoinChain implements SimulatedChain {
  readonly row = {
    name: 'bitcoin-regtest',
    caip2: CAIP2,
    family: 'bitcoin' as const,
    confirmations: 2,
    pollIntervalMs: 2_000,
  };
  readonly recipients = [person(2).address, person(3).address];
  readonly unit = 1_000_000n;
  readonly dust = 546n;
  readonly deepestFork = 5;
  readonly chain = new LocalBitcoinChain();
  readonly #schedule: Schedule;
  readonly #stranger = person(1);
  readonly #utxos: string[] = [];
  /** The minimum fee rate for the next block. */
  #price = CHEAPEST;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  get height(): number {
    return this.chain.height;
  }

  /**
   * Bitcoin has no final block. This is the newest block that no simulated reorganisation can undo.
   */
  get finalNumber(): bigint {
    return BigInt(Math.max(0, this.height - this.deepestFork));
  }

  /**
   * The estimated fee rates in satoshi per virtual byte, by the number of blocks until inclusion.
   */
  get rates(): Readonly<Record<string, number>> {
    const rate = (percent: bigint) => Number.parseInt(((this.#price * percent) / 100n).toString(), 10) / 1_000;
    return { '1': rate(150n), '3': rate(120n), '12': rate(100n) };
  }

  /**
   * The wallet starts with a few UTXOs only, so that payments must wait for each other's change.
   */
  /** The script of the vault's wallet; null before the wallet exists. */
  wallet: Uint8Array | null = null;

  endow(wallet: string): void {
    this.wallet = scriptFor(wallet);
    for (let i = 0; i < FOREIGN_UTXOS; i++) this.#utxos.push(this.chain.fund(this.#stranger.address, BTC));
    // Buries the funds deeper than any reorganisation reaches.
    this.chain.mine(this.deepestFork + 1);
    for (let i = 0; i <= this.#schedule.upTo(3); i++) this.deposit(wallet, BTC / 2n);
    this.mine();
  }

  deposit(to: string, amount: bigint): string {
    const txid = this.#utxos.shift();
    if (txid === undefined) throw new Error('the stranger has no coins left');
    const { key, script } = this.#stranger;
    const transaction = new Transaction({ version: 2 });
    transaction.addInput({ txid: hexToBytes(txid), index: 0, witnessUtxo: { script, amount: BTC } });
    transaction.addOutput({ script: scriptFor(to), amount });
    transaction.addOutput({ script, amount: BTC - amount - STRANGERS_FEE });
    transaction.sign(key);
    transaction.finalize();
    return this.chain.send(bytesToHex(Uint8Array.from(transaction.extract())));
  }

  mine(): void {
    // In calm weather the fee rate falls, so that transactions that offered too little are mined in
    // the end.
    const step = this.#schedule.weather === CALM ? 88n : 75n + BigInt(this.#schedule.upTo(60));
    const requested = (this.#price * step) / 100n;
    this.#price = requested < CHEAPEST ? CHEAPEST : requested > DEAREST ? DEAREST : requested;
    let positions = MAX_PER_BLOCK;
    const paysEnough = ({ fee, virtualSize }: AcceptedTransaction) => fee * 1_000n >= this.#price * virtualSize;
    this.chain.mine(1, (one) => paysEnough(one) && positions-- > 0);
  }

  reorganise(depth: number, forgotten: number): void {
    const before = this.height;
    // A reorganisation does not lose payments of others: they pay again.
    this.chain.undo(depth, (one) => this.#isStrangers(one) || !this.#schedule.isLuck(forgotten));
    this.#schedule.note(`${before - this.height} blocks of Bitcoin undone`);
    while (this.height < before) this.mine();
  }

  forget(share: number): void {
    for (const one of this.chain.waiting()) {
      if (!this.#isStrangers(one) && this.#schedule.isLuck(share)) this.chain.forget(one.hash);
    }
  }

  balance(address: string): bigint {
    return this.chain.balance(address);
  }

  nonce(): null {
    return null;
  }

  movedBy(hash: string, wallet: string): Moved | null {
    const transaction = this.chain.heightOf(hash) === null ? null : this.chain.find(hash);
    if (transaction === null) return null;
    const own = Buffer.from(scriptFor(wallet));
    const sum = (outputs: readonly (TxOut | null)[]) =>
      outputs.reduce((total, one) => total + (one !== null && own.equals(one.script) ? one.amount : 0n), 0n);
    const { fee, inputs, outputs } = transaction;
    const spent = sum(inputs.map((input) => input.spent));
    const net = sum(outputs) - spent;
    return { fee, net: spent > 0n ? net + fee : net };
  }

  /** Excludes outputs that pay the address itself. */
  paymentsFrom(address: string, height: number): readonly Payment[] {
    const own = Buffer.from(scriptFor(address));
    const isOwn = ({ script }: TxOut) => own.equals(script);
    return this.chain
      .since(height - 1)
      .flatMap((hash) => this.chain.find(hash) ?? [])
      .filter(({ inputs }) => inputs.some(({ spent }) => spent !== null && isOwn(spent)))
      .flatMap(({ hash, outputs }) =>
        outputs.filter((one) => !isOwn(one)).map((one) => ({ hash, to: this.#nameOf(one), amount: one.amount })),
      );
  }

  shows(hash: string): boolean {
    return this.chain.find(hash) !== null;
  }

  forged(number: number): string {
    return `${'f'.repeat(63)}${number}`;
  }

  #isStrangers({ inputs }: AcceptedTransaction): boolean {
    const own = Buffer.from(this.#stranger.script);
    return inputs.some(({ spent }) => spent !== null && own.equals(spent.script));
  }

  #nameOf({ script }: TxOut): string {
    const known = this.recipients.find((address) => Buffer.from(scriptFor(address)).equals(script));
    return known ?? bytesToHex(script);
  }
}
