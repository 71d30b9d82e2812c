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

/** Of regtest, as every node has it. */
const GENESIS_HASH = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';
const REGTEST = networkOf(`bip122:${GENESIS.regtest}`);

/** The number is that of the shape: an older file is left alone. */
const WRITTEN = 'bitcoin-2.json';
/** Blocks until what a miner earned can be spent, counting the one that holds it (Bitcoin Core: COINBASE_MATURITY). */
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
 * A regtest in this process: a ledger of coins, with a mempool and blocks that come when they are asked for. It takes what Bitcoin Core takes
 * of our kind: every input has to be there, and be signed for its output key over the hash of BIP-341, worked out here by itself; the fee has
 * to be enough, and a replacement has to pay for itself (BIP-125).
 */
export class LocalBitcoinChain {
  readonly #blocks: Block[] = [{ hash: GENESIS_HASH, transactions: [] }];
  readonly #mempool = new Map<string, AcceptedTransaction>();
  /** Of every transaction there ever was, those of lost blocks too. */
  readonly #all = new Map<string, AcceptedTransaction>();
  /** Thousandths of a satoshi per virtual byte: what a full mempool wants at least. Tests raise it. */
  mempoolMinimum = RELAY_RATE;

  /** A switch: what miners earn can be spent at once, as no real node has it. */
  ignoresMaturity = false;
  /** @param folder of an earlier run that is to go on */
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

  /** Null for one that waits, or that there is not. */
  heightOf(hash: string): number | null {
    const height = this.#blocks.findIndex(({ transactions }) => transactions.some((one) => one.hash === hash));
    return height === -1 ? null : height;
  }

  /** In a block or waiting; null for one that is neither. */
  find(hash: string): AcceptedTransaction | null {
    return this.#mempool.get(hash) ?? (this.heightOf(hash) === null ? null : (this.#all.get(hash) ?? null));
  }

  /** Everything in blocks, oldest first. */
  confirmed(): readonly AcceptedTransaction[] {
    return this.#blocks.flatMap(({ transactions }) => transactions);
  }

  /** Hashes of the transactions in a block; null for a block that is none. */
  hashesIn(block: string): readonly string[] | null {
    return this.#blocks.find(({ hash }) => hash === block)?.transactions.map(({ hash }) => hash) ?? null;
  }

  /** Hashes of all transactions in blocks beyond a height. */
  since(height: number): readonly string[] {
    return this.#blocks.slice(height + 1).flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
  }

  waiting(): readonly AcceptedTransaction[] {
    return [...this.#mempool.values()];
  }

  /** Who spends an output, in a block or waiting. */
  spenderOf(txid: string, vout: number): AcceptedTransaction | null {
    const spends = ({ inputs }: AcceptedTransaction) =>
      inputs.some((input) => input.txid === txid && input.vout === vout);
    return this.confirmed().find(spends) ?? this.waiting().find(spends) ?? null;
  }

  /** Satoshi in blocks. */
  balance(address: string): bigint {
    const script = Buffer.from(ofAddress(address));
    const sum = (outputs: readonly TxOut[]) =>
      outputs.filter((one) => script.equals(one.script)).reduce((total, { amount }) => total + amount, 0n);
    const [funded, spent] = this.flows();
    return sum(funded) - sum(spent);
  }

  /** Everything that blocks have given out, and everything that they have spent of it. */
  flows(): readonly [readonly TxOut[], readonly TxOut[]] {
    const all = this.confirmed();
    return [
      all.flatMap(({ outputs }) => outputs),
      all.flatMap(({ inputs }) => inputs.flatMap(({ spent }) => spent ?? [])),
    ];
  }

  /** Takes a transaction into the mempool. Throws `Rejected` where Bitcoin Core would not take it. Gives its hash. */
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

  /** Puts what waits into a block, and empty ones after it. @param amounts whether the miner of the first one wants it */
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

  /** Loses the newest blocks, and what was in them; as many others, and one more, stand there instead. */
  reorganise(blocks: number): void {
    this.undo(blocks, () => false);
    for (let i = 0; i <= blocks; i++) this.#append([]);
  }

  /** The newest blocks were none. @param keeps whether what was in one of them waits again */
  undo(blocks: number, keeps: (lost: AcceptedTransaction) => boolean): void {
    const lost = this.#blocks.splice(this.#blocks.length - blocks).flatMap(({ transactions }) => transactions);
    for (const one of lost) {
      // What a miner earned there is gone with its block.
      if (one.inputs.length === 0) this.#all.delete(one.hash);
      else if (keeps(one)) this.#mempool.set(one.hash, one);
    }
    this.#dropOrphans();
  }

  /** Nobody knows any more of something that waits, nor of what spends it. */
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

  /** As a node knows it that has not heard of the newest blocks yet: what is in them still waits. */
  before(blocks: number): LocalBitcoinChain {
    const then = new LocalBitcoinChain();
    then.#blocks.splice(0, 1, ...this.#blocks.slice(0, Math.max(1, this.#blocks.length - blocks)));
    for (const [hash, one] of this.#all) then.#all.set(hash, one);
    const waiting = this.#blocks.slice(then.#blocks.length).flatMap(({ transactions }) => transactions);
    for (const one of [...waiting, ...this.waiting()]) if (one.inputs.length > 0) then.#mempool.set(one.hash, one);
    return then;
  }

  /** Satoshi for anybody from the faucet, in a block of their own. Gives the hash. */
  fund(address: string, amount: bigint): string {
    const { source, payment } = deposit(ofAddress(address), amount);
    this.#endow(source);
    return this.#appendOne(payment);
  }

  /** Satoshi that a miner earns, in a block of their own: nobody may spend them for a hundred blocks. Gives the hash. */
  earn(address: string, amount: bigint): string {
    return this.#appendOne(coinbase(ofAddress(address), amount));
  }

  #appendOne(raw: string): string {
    const taken = this.#read(raw);
    this.#append([taken]);
    return taken.hash;
  }

  /** What the faucet has, it has had since the first block: no reorganisation takes it. */
  #endow(source: string): void {
    const [genesis = { hash: GENESIS_HASH, transactions: [] }] = this.#blocks;
    const earned = this.#read(source);
    this.#all.set(earned.hash, earned);
    this.#blocks.splice(0, 1, { ...genesis, transactions: [...genesis.transactions, earned] });
  }

  /** Loses the newest blocks. In those that stand there instead the faucet takes a deposit back; all else waits again, where it can. */
  doubleSpend(blocks: number, lost: string): string {
    const spent = this.find(lost)?.inputs[0];
    if (spent === undefined || spent.spent === null) throw new Error('only a deposit can be taken back');
    this.undo(blocks, ({ hash }) => hash !== lost);
    const back = this.send(doubleSpend({ txid: spent.txid, amount: spent.spent.amount }));
    this.mine(1, ({ hash }) => hash === back);
    for (let i = 0; i < blocks; i++) this.#append([]);
    return back;
  }

  /** Takes over what another node says: blocks after those that both have, and everything that waits. Nothing is validated here. */
  mirror(
    common: number,
    blocks: readonly { readonly hash: string; readonly raws: readonly string[] }[],
    waiting: readonly string[],
  ): void {
    this.#blocks.splice(common + 1);
    for (const { hash, raws } of blocks) {
      const transactions: AcceptedTransaction[] = [];
      for (const raw of raws) {
        // One may spend what another one of the same block has made.
        const taken = this.#read(raw);
        this.#all.set(taken.hash, taken);
        transactions.push(taken);
      }
      this.#blocks.push({ hash, transactions });
    }
    this.#mempool.clear();
    // Twice: a node names them in any order, and they may spend each other's coins.
    for (const raw of waiting) this.#all.set(hashOf(raw), this.#read(raw));
    for (const raw of waiting) this.#mempool.set(hashOf(raw), this.#read(raw));
  }

  /** Writes the blocks down, for the next run. */
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
      // A block that comes again after a reorganisation is another one.
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

  /** BIP-125: whatever spends the same coin has to say that it may be replaced, and the new one has to pay for all that goes. */
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
