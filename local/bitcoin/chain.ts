import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { equalBytes } from '@noble/curves/utils.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { coinbase, deposit, doubleSpend, FAUCET_SCRIPT } from './faucet.ts';
import type { AcceptedTransaction, TxOut } from './transaction.ts';
import { decoded, hashOf, Rejected } from './transaction.ts';
import { isUnlocked } from './input-signature.ts';
import { virtualSizeOf } from './virtual-size.ts';
import { feeFault, RELAY_RATE, replacementFault } from './mempool-rules.ts';

/** The genesis block of regtest, which is the same for every node. */
const GENESIS_HASH = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';
const REGTEST = networkOf(`bip122:${GENESIS.regtest}`);

/** The number is the format version: a file of an older version is ignored. */
const WRITTEN = 'bitcoin-2.json';
/**
 * Blocks until coinbase outputs can be spent, counting the block of the coinbase (Bitcoin Core:
 * COINBASE_MATURITY).
 */
const MATURITY = 100;

const DUST_LIMITS: Readonly<Record<number, bigint>> = { 0x51: 330n, 0x00: 294n, 0x76: 546n, 0xa9: 540n };
const REPLACEABLE = 0xfffffffe;

interface Block {
  readonly hash: string;
  readonly transactions: readonly AcceptedTransaction[];
}

interface Written {
  readonly faucet: readonly string[];
  readonly blocks: readonly (readonly string[])[];
}

/**
 * A regtest in this process: a UTXO set with a mempool, and blocks on request. It accepts what
 * Bitcoin Core accepts of our transaction kinds: every input exists and is signed for its output
 * key over the hash of BIP-341, which is computed here independently; the fee suffices, and a
 * replacement pays for itself (BIP-125).
 */
export class LocalBitcoinChain {
  readonly #blocks: Block[] = [{ hash: GENESIS_HASH, transactions: [] }];
  readonly #mempool = new Map<string, AcceptedTransaction>();
  /** Every transaction ever, including those of lost blocks. */
  readonly #all = new Map<string, AcceptedTransaction>();
  /** Thousandths of a satoshi per virtual byte: the minimum of a full mempool. Tests raise it. */
  mempoolMinimum = RELAY_RATE;

  /** When true, coinbase outputs are spendable at once, unlike on a real node. */
  ignoresMaturity = false;
  /** @param folder of an earlier run that continues */
  constructor(folder: string | null = null) {
    if (folder === null || !existsSync(join(folder, WRITTEN))) return;
    const written: Written = JSON.parse(readFileSync(join(folder, WRITTEN), 'utf8'));
    for (const raw of written.faucet) this.#endow(raw);
    for (const raws of written.blocks) this.#append(raws.map((raw) => this.#read(raw)));
  }

  get height(): number {
    return this.#blocks.length - 1;
  }

  blockHash(height: number): string | null {
    return this.#blocks[height]?.hash ?? null;
  }

  /** Returns null for a transaction in the mempool and for an unknown one. */
  heightOf(hash: string): number | null {
    const height = this.#blocks.findIndex(({ transactions }) => transactions.some((one) => one.hash === hash));
    return height === -1 ? null : height;
  }

  /** Returns a transaction of a block or the mempool; null for any other. */
  find(hash: string): AcceptedTransaction | null {
    return this.#mempool.get(hash) ?? (this.heightOf(hash) === null ? null : (this.#all.get(hash) ?? null));
  }

  /** Returns all transactions in blocks, oldest first. */
  confirmed(): readonly AcceptedTransaction[] {
    return this.#blocks.flatMap(({ transactions }) => transactions);
  }

  /** Returns the hashes of the transactions in a block; null for an unknown block. */
  hashesIn(block: string): readonly string[] | null {
    return this.#blocks.find(({ hash }) => hash === block)?.transactions.map(({ hash }) => hash) ?? null;
  }

  /** Returns the hashes of all transactions in blocks beyond a height. */
  since(height: number): readonly string[] {
    return this.#blocks.slice(height + 1).flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
  }

  waiting(): readonly AcceptedTransaction[] {
    return [...this.#mempool.values()];
  }

  /** Returns the transaction in a block or the mempool that spends an output. */
  spenderOf(txid: string, vout: number): AcceptedTransaction | null {
    const spends = ({ inputs }: AcceptedTransaction) =>
      inputs.some((input) => input.txid === txid && input.vout === vout);
    return this.confirmed().find(spends) ?? this.waiting().find(spends) ?? null;
  }

  /** Returns the satoshi of an address in blocks. */
  balance(address: string): bigint {
    const script = Buffer.from(ofAddress(address));
    const sum = (outputs: readonly TxOut[]) =>
      outputs.filter((one) => script.equals(one.script)).reduce((total, { amount }) => total + amount, 0n);
    const [funded, spent] = this.flows();
    return sum(funded) - sum(spent);
  }

  /** Returns all outputs of blocks, and all outputs that blocks spent. */
  flows(): readonly [readonly TxOut[], readonly TxOut[]] {
    const all = this.confirmed();
    return [
      all.flatMap(({ outputs }) => outputs),
      all.flatMap(({ inputs }) => inputs.flatMap(({ spent }) => spent ?? [])),
    ];
  }

  /**
   * Adds a transaction to the mempool and returns its hash. Throws `Rejected` when Bitcoin Core
   * would.
   */
  send(raw: string): string {
    const taken = this.#read(raw);
    const { hash } = taken;
    if (this.#mempool.has(hash)) throw new Rejected('txn-already-in-mempool');
    if (this.heightOf(hash) !== null) throw new Rejected('Transaction already in block chain');
    this.#validate(raw, taken);
    this.#replace(taken);
    this.#mempool.set(hash, taken);
    return hash;
  }

  /**
   * Mines the mempool into a block, and then empty blocks. @param amounts whether the first miner
   * includes a transaction
   */
  mine(blocks = 1, amounts: (waiting: AcceptedTransaction) => boolean = () => true): void {
    const chosen: AcceptedTransaction[] = [];
    for (let next = this.#next(amounts); next !== undefined; next = this.#next(amounts)) {
      this.#mempool.delete(next.hash);
      chosen.push(next);
    }
    this.#append(chosen);
    for (let i = 1; i < blocks; i++) this.#append([]);
  }

  #next(amounts: (waiting: AcceptedTransaction) => boolean): AcceptedTransaction | undefined {
    // No child comes before its parent.
    const isReady = ({ inputs }: AcceptedTransaction) => !inputs.some(({ txid }) => this.#mempool.has(txid));
    return this.waiting().find((one) => isReady(one) && amounts(one));
  }

  /**
   * Replaces the newest blocks by empty blocks, one more than before. Their transactions are lost.
   */
  reorganise(blocks: number): void {
    this.undo(blocks, () => false);
    for (let i = 0; i <= blocks; i++) this.#append([]);
  }

  /** Removes the newest blocks. @param keeps whether a lost transaction returns to the mempool */
  undo(blocks: number, keeps: (lost: AcceptedTransaction) => boolean): void {
    const lost = this.#blocks.splice(this.#blocks.length - blocks).flatMap(({ transactions }) => transactions);
    for (const one of lost) {
      // A coinbase output disappears with its block.
      if (one.inputs.length === 0) this.#all.delete(one.hash);
      else if (keeps(one)) this.#mempool.set(one.hash, one);
    }
    this.#dropOrphans();
  }

  /** Drops a transaction and its descendants from the mempool. */
  forget(hash: string): void {
    this.#mempool.delete(hash);
    this.#dropOrphans();
  }

  #dropOrphans(): void {
    const orphan = this.waiting().find(({ inputs }) => inputs.some(({ txid }) => this.find(txid) === null));
    if (orphan === undefined) return;
    this.#mempool.delete(orphan.hash);
    this.#dropOrphans();
  }

  /**
   * Returns the chain as of a node that lacks the newest blocks: their transactions are in its
   * mempool.
   */
  before(blocks: number): LocalBitcoinChain {
    const then = new LocalBitcoinChain();
    then.#blocks.splice(0, 1, ...this.#blocks.slice(0, Math.max(1, this.#blocks.length - blocks)));
    for (const [hash, one] of this.#all) then.#all.set(hash, one);
    const waiting = this.#blocks.slice(then.#blocks.length).flatMap(({ transactions }) => transactions);
    for (const one of [...waiting, ...this.waiting()]) if (one.inputs.length > 0) then.#mempool.set(one.hash, one);
    return then;
  }

  /** Pays satoshi from the faucet to an address, in a block of their own. Returns the hash. */
  fund(address: string, amount: bigint): string {
    const { source, payment } = deposit(ofAddress(address), amount);
    this.#endow(source);
    return this.#appendOne(payment);
  }

  /**
   * Pays a coinbase to an address, in a block of its own: it matures after a hundred blocks.
   * Returns the hash.
   */
  earn(address: string, amount: bigint): string {
    return this.#appendOne(coinbase(ofAddress(address), amount));
  }

  #appendOne(raw: string): string {
    const taken = this.#read(raw);
    this.#append([taken]);
    return taken.hash;
  }

  /** Funds of the faucet are in the first block, so no reorganisation removes them. */
  #endow(source: string): void {
    const [genesis = { hash: GENESIS_HASH, transactions: [] }] = this.#blocks;
    const earned = this.#read(source);
    this.#all.set(earned.hash, earned);
    this.#blocks.splice(0, 1, { ...genesis, transactions: [...genesis.transactions, earned] });
  }

  /**
   * Removes the newest blocks. In their replacement the faucet double-spends a deposit; all else
   * returns to the mempool when valid.
   */
  doubleSpend(blocks: number, lost: string): string {
    const spent = this.find(lost)?.inputs[0];
    if (spent === undefined || spent.spent === null) throw new Error('only a deposit can be removed');
    this.undo(blocks, ({ hash }) => hash !== lost);
    const back = this.send(doubleSpend({ txid: spent.txid, amount: spent.spent.amount }));
    this.mine(1, ({ hash }) => hash === back);
    for (let i = 0; i < blocks; i++) this.#append([]);
    return back;
  }

  /**
   * Copies the state of another node: the blocks after the common ones, and the mempool. Nothing is
   * validated here.
   */
  mirror(
    common: number,
    blocks: readonly { readonly hash: string; readonly raws: readonly string[] }[],
    waiting: readonly string[],
  ): void {
    this.#blocks.splice(common + 1);
    for (const { hash, raws } of blocks) {
      const transactions: AcceptedTransaction[] = [];
      for (const raw of raws) {
        // A transaction may spend an output of the same block.
        const taken = this.#read(raw);
        this.#all.set(taken.hash, taken);
        transactions.push(taken);
      }
      this.#blocks.push({ hash, transactions });
    }
    this.#mempool.clear();
    // Two passes: the order of the node is arbitrary, and the transactions may spend outputs of
    // each other.
    for (const raw of waiting) this.#all.set(hashOf(raw), this.#read(raw));
    for (const raw of waiting) this.#mempool.set(hashOf(raw), this.#read(raw));
  }

  /** Stores the blocks for the next run. */
  save(folder: string): void {
    mkdirSync(folder, { recursive: true });
    const [faucet = [], ...blocks] = this.#blocks.map(({ transactions }) => transactions.map(({ raw }) => raw));
    const written: Written = { faucet, blocks };
    writeFileSync(join(folder, WRITTEN), JSON.stringify(written));
  }

  #append(transactions: readonly AcceptedTransaction[]): void {
    const { hash: parent = '' } = this.#blocks.at(-1) ?? {};
    const hash = createHash('sha256')
      .update(parent)
      .update(transactions.map((one) => one.hash).join())
      // A block that is mined again after a reorganisation has another hash.
      .update(randomBytes(8))
      .digest('hex');
    this.#blocks.push({ hash, transactions });
    for (const one of transactions) this.#all.set(one.hash, one);
  }

  #read(raw: string): AcceptedTransaction {
    const transaction = decoded(raw);
    const { inputs, outputs } = transaction;
    const isCoinbase = inputs.length === 1 && inputs[0]?.index === 0xffffffff;
    const spends = isCoinbase
      ? []
      : inputs.map(({ txid, index }) => {
          const hash = bytesToHex(Uint8Array.from(txid));
          return {
            txid: hash,
            vout: index,
            spent: this.#all.get(hash)?.outputs[index] ?? this.#mempool.get(hash)?.outputs[index] ?? null,
          };
        });
    const total = (list: readonly { readonly amount: bigint }[]) => list.reduce((sum, { amount }) => sum + amount, 0n);
    const outs = outputs.map(({ script, amount }) => ({ script: Uint8Array.from(script), amount }));
    const spent = spends.map((one) => one.spent ?? { amount: 0n });
    return {
      hash: hashOf(raw),
      raw,
      inputs: spends,
      outputs: outs,
      fee: isCoinbase ? 0n : total(spent) - total(outs),
      virtualSize: virtualSizeOf(decoded(raw)),
      isReplaceable: inputs.some(({ sequence }) => sequence < REPLACEABLE),
    };
  }

  #validate(raw: string, taken: AcceptedTransaction): void {
    const { inputs, outputs, fee } = taken;
    const names = new Set(inputs.map(({ txid, vout }) => `${txid}:${vout}`));
    if (inputs.length === 0 || names.size !== inputs.length) throw new Rejected('bad-txns-inputs-duplicate');
    const isSpent = ({ txid, vout }: AcceptedTransaction['inputs'][number]) => {
      const spender = this.spenderOf(txid, vout);
      return spender !== null && this.heightOf(spender.hash) !== null;
    };
    const isThere = (input: AcceptedTransaction['inputs'][number]) =>
      input.spent !== null && this.find(input.txid) !== null;
    if (!inputs.every(isThere) || inputs.some(isSpent)) throw new Rejected('bad-txns-inputs-missingorspent');
    for (const { txid } of inputs) this.#checkMaturity(txid);
    if (fee < 0n) throw new Rejected('bad-txns-in-belowout');
    for (const { script, amount } of outputs) {
      if (amount < (DUST_LIMITS[script[0] ?? -1] ?? 0n)) throw new Rejected('dust');
    }
    const tooCheap = feeFault(taken, this.mempoolMinimum);
    if (tooCheap !== null) throw new Rejected(tooCheap);
    const utxos = inputs.flatMap(({ spent }) => spent ?? []);
    for (const i of utxos.keys()) {
      if (!isUnlocked(decoded(raw), i, utxos)) {
        throw new Rejected('mandatory-script-verify-flag-failed (Signature check failed)');
      }
    }
  }

  #checkMaturity(txid: string): void {
    const made = this.find(txid);
    const isEarned = made?.inputs.length === 0 && !made.outputs.some(({ script }) => equalBytes(script, FAUCET_SCRIPT));
    const depth = this.height - (this.heightOf(txid) ?? this.height) + 1;
    if (!this.ignoresMaturity && isEarned && depth < MATURITY)
      throw new Rejected(`bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth ${depth}`);
  }

  /**
   * BIP-125: every conflict has to signal replaceability, and the replacement has to pay for all
   * evicted transactions.
   */
  #replace(taken: AcceptedTransaction): void {
    const rivals = this.waiting().filter((waiting) =>
      waiting.inputs.some(({ txid, vout }) => taken.inputs.some((one) => one.txid === txid && one.vout === vout)),
    );
    if (rivals.length === 0) return;
    if (rivals.some(({ isReplaceable }) => !isReplaceable)) throw new Rejected('txn-mempool-conflict');
    const all = rivals.flatMap((rival) => [rival, ...this.#descendantsOf(rival.hash)]);
    const gone = [...new Set(all)];
    const fault = replacementFault(taken, rivals, gone);
    if (fault !== null) throw new Rejected(fault);
    for (const { hash } of gone) this.#mempool.delete(hash);
  }

  #descendantsOf(hash: string): readonly AcceptedTransaction[] {
    const children = this.waiting().filter(({ inputs }) => inputs.some(({ txid }) => txid === hash));
    return children.flatMap((child) => [child, ...this.#descendantsOf(child.hash)]);
  }
}

function ofAddress(address: string): Uint8Array {
  const script = REGTEST === null ? null : scriptOf(REGTEST, address);
  if (script === null) throw new Error('no address of regtest');
  return script;
}
