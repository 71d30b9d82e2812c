import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Address, EncodedAccount, Instruction } from '@solana/kit';
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getAddressDecoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  lamports,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { parseJsonWithBigInts, stringifyJsonWithBigInts } from '@solana/rpc-spec-types';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { bytesOf } from '#chains/solana/rules/address.ts';
import { mintIn, storedNonce, TOKEN_PROGRAMS, tokenAccountIn } from '#chains/solana/client/accounts.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';
import type { LeaderRules, Waiting } from './leader.ts';
import { chosenFor, isSignedBy, offeredPrice } from './leader.ts';
import { errorOf } from './error.ts';
import { durableNonce } from './durable-nonce.ts';
import type { Entry, ChainView, Snapshot } from './rpc.ts';
import { hashOf, instructionsOf } from './rpc.ts';

/** Has a billion SOL, and no key. */
const FAUCET = getAddressDecoder().decode(createHash('sha256').update('the faucet of the local ledger').digest());

/** A blockhash is valid for this many blocks. */
const BLOCKHASH_BLOCKS = 150n;

/** Owns the accounts with the clock, the rent and the blocks of the virtual machine. */
const SYSVAR_OWNER = address('Sysvar1111111111111111111111111111111111111');

const WRITTEN = 'solana.json';

interface Written {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly entries: readonly Entry[];
  readonly accounts: readonly WrittenAccount[];
  /** Absent in older files. */
  readonly skipped?: readonly bigint[];
}

interface WrittenAccount {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  /** Base64. */
  readonly data: string;
}

/**
 * The virtual machine of Solana, in this process (litesvm), as a chain with one validator: each
 * executed transaction is a block, which is final after `finalityDepth` more. With a `leader`,
 * slots are as on the network: they hold several transactions, the highest prices first, and tests
 * advance them. Corrected differences of litesvm: a blockhash is valid for 150 blocks instead of
 * one, a failed transaction uses up its durable nonce, and a durable nonce advances only once in a
 * slot.
 */
export class LocalSolanaChain implements ChainView {
  readonly #svm = new LiteSVM();
  /** Accounts that no transaction created. */
  readonly #put = new Set<Address>();
  readonly #entries: Entry[] = [];
  readonly #byHash = new Map<string, Entry>();
  /** Blockhash to the last height that accepts it. */
  readonly #recent = new Map<string, bigint>();
  #slot = 1n;
  /** Slots whose leader made no block. */
  readonly #skipped = new Set<bigint>();
  #waiting: readonly Waiting[] = [];
  #price = 0n;
  finalityDepth = 0n;
  /** Null: each transaction executes at once, in a slot of its own. */
  leader: LeaderRules | null = null;
  /** The node lacks transactions before this slot: it started from a snapshot, or pruned them. */
  historyFrom = 0n;

  /** @param folder of an earlier run that continues */
  constructor(folder: string | null = null) {
    this.#svm.withTransactionHistory(100_000n);
    if (folder !== null && existsSync(join(folder, WRITTEN))) {
      this.#goOn(parseJsonWithBigInts(readFileSync(join(folder, WRITTEN), 'utf8')) as Written);
      return;
    }
    this.#remember();
    this.#store(FAUCET, { owner: SYSTEM_PROGRAM_ADDRESS, lamports: 10n ** 18n, data: new Uint8Array() });
  }

  get slot(): bigint {
    return this.#slot;
  }

  /** The newest final slot. */
  get finalizedSlot(): bigint {
    let slot = this.#slot > this.finalityDepth ? this.#slot - this.finalityDepth : 0n;
    while (this.#skipped.has(slot)) slot -= 1n;
    return slot;
  }

  /** The lowest price in the newest block, which nodes report. */
  get price(): bigint {
    return this.#price;
  }

  /** Returns the number of blocks up to a slot. */
  heightAt(slot: bigint): bigint {
    return slot - BigInt([...this.#skipped].filter((skipped) => skipped <= slot).length);
  }

  latestBlockhash(): { readonly blockhash: string; readonly lastHeight: bigint } {
    return { blockhash: this.#svm.latestBlockhash(), lastHeight: this.heightAt(this.#slot) + BLOCKHASH_BLOCKS };
  }

  rent(bytes: bigint): bigint {
    return this.#svm.minimumBalanceForRentExemption(bytes);
  }

  account(at: Address): Account | null {
    const found = this.#svm.getAccount(at);
    if (!found.exists || found.lamports === 0n) return null;
    const { lamports: held, programAddress: owner, data, executable: isExecutable } = found;
    return { lamports: held, owner, data: Uint8Array.from(data), isExecutable };
  }

  tokenAccounts(owner: Address): readonly { readonly address: Address; readonly mint: Address }[] {
    const accounts = TOKEN_PROGRAMS.flatMap((program) => this.#svm.getProgramAccounts(program));
    return accounts.flatMap(({ address: at }) => {
      const token = tokenAccountIn(this.account(at));
      return token?.owner === owner ? [{ address: at, mint: token.mint }] : [];
    });
  }

  entry(hash: string): Entry | null {
    const entry = this.#byHash.get(hash) ?? null;
    return entry === null || entry.slot < this.historyFrom ? null : entry;
  }

  /** Newest first. */
  naming(at: Address): readonly Entry[] {
    return this.#entries.filter(({ accounts, slot }) => slot >= this.historyFrom && accounts.includes(at)).toReversed();
  }

  /** Returns every transaction in a later slot, oldest first. */
  since(slot: bigint): readonly Entry[] {
    return this.#entries.filter((entry) => entry.slot > slot);
  }

  /**
   * Accepts a transaction as a node does. Without a leader it executes at once: `null` when it is
   * dropped silently (unknown blockhash, or unpaid fee), and `signature` for a wrong one. With a
   * leader it waits for a slot, or is lost.
   */
  send(wire: Uint8Array): Entry | Pick<Entry, 'hash'> | 'signature' | null {
    if (this.leader !== null) return this.#passOn(wire, this.leader);
    const entry = this.#carryOut(wire);
    if (entry !== null && entry !== 'signature' && entry.slot > this.#slot) this.advance(1n);
    return entry;
  }

  #passOn(wire: Uint8Array, { isLost }: LeaderRules): Pick<Entry, 'hash'> | 'signature' {
    const transaction = getTransactionDecoder().decode(wire);
    const hash = hashOf(transaction);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const [payer] = message.staticAccounts;
    if (payer === undefined || !isSignedBy(payer, transaction)) return 'signature';
    const isNew = !this.#byHash.has(hash) && this.#waiting.every((one) => one.hash !== hash);
    if (isNew && isLost?.(hash) !== true) {
      this.#waiting = [...this.#waiting, { hash, price: offeredPrice(message), wire }];
    }
    return { hash };
  }

  /** Executes a transaction in the slot after the newest one. */
  #carryOut(wire: Uint8Array): Entry | 'signature' | null {
    const transaction = getTransactionDecoder().decode(wire);
    const hash = hashOf(transaction);
    const known = this.#byHash.get(hash) ?? null;
    if (known !== null) return known;
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const accounts = [...message.staticAccounts];
    const lives = (this.#recent.get(message.lifetimeToken) ?? 0n) >= this.heightAt(this.#slot);
    // A nonce value cannot be used in the slot that set it.
    if (!lives && message.lifetimeToken === this.#newestNonce) return null;
    const before = accounts.map((at) => this.#snapshot(at));
    const payer = accounts[0] ?? SYSTEM_PROGRAM_ADDRESS;
    const paid = this.#svm.getBalance(payer) ?? 0n;
    this.#svm.withBlockhashCheck(!lives);
    const result = this.#svm.sendTransaction(transaction);
    this.#svm.withBlockhashCheck(true);
    const failed = result instanceof FailedTransactionMetadata;
    const error = failed ? errorOf(result.err()) : null;
    if (error === 'SignatureFailure') return 'signature';
    const charged = paid - (this.#svm.getBalance(payer) ?? 0n);
    // A transaction that paid its fee has run, whatever its error.
    if (failed && charged === 0n) return null;
    if (failed && !lives) this.#useUp(accounts, message.lifetimeToken);
    const after = accounts.map((at) => this.#snapshot(at));
    const entry = {
      hash,
      slot: this.#slot + 1n,
      error,
      fee: feeOf(before, after),
      accounts,
      before,
      after,
      logs: failed ? result.meta().logs() : result.logs(),
      lifetime: message.lifetimeToken,
      instructions: instructionsOf(message),
    };
    this.#enter(entry);
    return entry;
  }

  /** Simulates a transaction without a check of its signature and blockhash. */
  simulate(wire: Uint8Array): { readonly error: unknown; readonly logs: readonly string[]; readonly units: bigint } {
    const transaction = getTransactionDecoder().decode(wire);
    this.#svm.withBlockhashCheck(false).withSigverify(false);
    const result = this.#svm.simulateTransaction(transaction);
    this.#svm.withBlockhashCheck(true).withSigverify(true);
    const failed = result instanceof FailedTransactionMetadata;
    const meta = result.meta();
    return { error: failed ? errorOf(result.err()) : null, logs: meta.logs(), units: meta.computeUnitsConsumed() };
  }

  /** Adds blocks, which contain only transactions that wait for a leader. */
  advance(blocks: bigint): void {
    let empty = blocks;
    for (; this.leader !== null && empty > 0n && this.#waiting.length > 0; empty -= 1n) {
      this.#fillSlot(this.leader);
      this.#goTo(this.#slot + 1n);
    }
    if (empty > 0n) this.#goTo(this.#slot + empty);
  }

  /** Adds slots without a block, as with unreachable leaders. */
  skip(slots: bigint): void {
    for (let i = 0n; i < slots; i += 1n) {
      this.#slot += 1n;
      this.#skipped.add(this.#slot);
    }
    this.#svm.warpToSlot(this.#slot);
  }

  #fillSlot(leader: LeaderRules): void {
    const { chosen, lowest } = chosenFor(leader, this.#waiting);
    for (const { wire } of chosen) this.#carryOut(wire);
    // Chosen transactions that did not execute are dropped: the node sends each only once.
    this.#waiting = this.#waiting.filter((one) => !chosen.includes(one));
    this.#price = lowest;
  }

  #goTo(slot: bigint): void {
    this.#slot = slot;
    this.#svm.warpToSlot(slot);
    this.#svm.expireBlockhash();
    this.#remember();
  }

  get #newestNonce(): string {
    return durableNonce(address(this.#svm.latestBlockhash()));
  }

  /**
   * Executes instructions of an account without a key, as anvil does. Throws if the network would
   * not.
   */
  carryOut(payer: Address, instructions: readonly Instruction[]): Entry {
    const message = setTransactionMessageFeePayer(payer, createTransactionMessage({ version: 0 }));
    const lifetime = { blockhash: blockhash(this.latestBlockhash().blockhash), lastValidBlockHeight: 0n };
    const living = setTransactionMessageLifetimeUsingBlockhash(lifetime, message);
    const compiled = compileTransactionMessage(appendTransactionMessageInstructions(instructions, living));
    const bytes = getCompiledTransactionMessageEncoder().encode(compiled);
    const signers = compiled.header.numSignerAccounts;
    const names = crypto.getRandomValues(new Uint8Array(64 * signers));
    this.#svm.withSigverify(false);
    const entry = this.#carryOut(Uint8Array.of(signers, ...names, ...bytes));
    this.#svm.withSigverify(true);
    if (entry !== null && entry !== 'signature') this.advance(1n);
    if (entry === null || entry === 'signature' || entry.error !== null) {
      throw new Error(
        `not carried out: ${entry === null ? 'dropped' : JSON.stringify(entry === 'signature' ? entry : entry.error)}`,
      );
    }
    return entry;
  }

  /** Pays lamports to an address. */
  airdrop(to: Address, amount: bigint): Entry {
    const instruction = getTransferSolInstruction({ source: createNoopSigner(FAUCET), destination: to, amount });
    return this.carryOut(FAUCET, [instruction]);
  }

  /** Sets an account directly, for states that no test transaction could create. */
  put(account: EncodedAccount): void {
    this.#put.add(account.address);
    this.#svm.setAccount(account);
  }

  /** Returns the hash of the block in a slot; null for a skipped or pruned one. */
  blockhashOf(slot: bigint): string | null {
    if (this.#skipped.has(slot) || slot < this.historyFrom) return null;
    return getAddressDecoder().decode(createHash('sha256').update(`block ${slot}`).digest());
  }

  hashesIn(slot: bigint): readonly string[] {
    return this.#entries.filter((entry) => entry.slot === slot).map(({ hash }) => hash);
  }

  /** Stores all state for the next run. */
  save(folder: string): void {
    mkdirSync(folder, { recursive: true });
    const named = new Set([...this.#put, ...this.#entries.flatMap(({ accounts }) => accounts)]);
    const written: Written = {
      slot: this.#slot,
      blockhash: this.#svm.latestBlockhash(),
      entries: this.#entries,
      skipped: [...this.#skipped],
      accounts: [...named].flatMap((at) => this.#written(at)),
    };
    writeFileSync(join(folder, WRITTEN), stringifyJsonWithBigInts(written));
  }

  #written(at: Address): readonly WrittenAccount[] {
    const account = this.account(at);
    if (account === null || account.isExecutable || account.owner === SYSVAR_OWNER) return [];
    const { owner, lamports: held, data } = account;
    return [{ address: at, owner, lamports: held, data: Buffer.from(data).toString('base64') }];
  }

  /** Skips the blockhashes of the old run: a repeated one would make its signatures valid again. */
  #goOn({ slot, blockhash: last, entries, accounts, skipped = [] }: Written): void {
    for (const one of skipped) this.#skipped.add(one);
    for (let passed = 0n; this.#svm.latestBlockhash() !== last; passed += 1n) {
      if (passed === slot) throw new Error(`${WRITTEN} is from another version of LiteSVM. Start with --fresh.`);
      this.#svm.expireBlockhash();
    }
    for (const { address: at, owner, lamports: held, data } of accounts) {
      this.#store(at, { owner, lamports: held, data: decodeBase64(data) });
    }
    for (const entry of entries) this.#enter(entry);
    this.#slot = slot;
    this.advance(1n);
  }

  #store(at: Address, { owner, lamports: held, data }: Omit<Account, 'isExecutable'>): void {
    const space = BigInt(data.length);
    this.put({ address: at, data, executable: false, lamports: lamports(held), programAddress: owner, space });
  }

  #enter(entry: Entry): void {
    this.#entries.push(entry);
    this.#byHash.set(entry.hash, entry);
  }

  #remember(): void {
    this.#recent.set(this.#svm.latestBlockhash(), this.heightAt(this.#slot) + BLOCKHASH_BLOCKS);
  }

  #snapshot(at: Address): Snapshot {
    const account = this.account(at);
    const token = tokenAccountIn(account);
    if (account === null) return { lamports: 0n, token: null };
    if (token === null) return { lamports: account.lamports, token: null };
    const { mint, owner, units } = token;
    const decimals = mintIn(this.account(mint))?.decimals ?? 0;
    return { lamports: account.lamports, token: { mint, owner, units, decimals } };
  }

  /** Advances a nonce of a failed transaction, as the network does against another execution. */
  #useUp(accounts: readonly Address[], value: string): void {
    for (const at of accounts) {
      const account = this.account(at);
      if (account === null || storedNonce(account)?.value !== value) continue;
      account.data.set(bytesOf(address(this.#newestNonce)), 40);
      this.#store(at, account);
    }
  }
}

/** Returns the missing lamports in total. Only fees remove lamports. */
function feeOf(before: readonly Snapshot[], after: readonly Snapshot[]): bigint {
  const total = (snapshots: readonly Snapshot[]) => snapshots.reduce((sum, one) => sum + one.lamports, 0n);
  return total(before) - total(after);
}

function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
