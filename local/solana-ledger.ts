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
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { parseJsonWithBigInts, stringifyJsonWithBigInts } from '@solana/rpc-spec-types';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { bytesOf } from '#chains/solana/address.ts';
import { mintIn, storedNonce, tokenAccountIn } from '#chains/solana/accounts.ts';
import type { Account } from '#chains/solana/question.ts';
import { errorOf } from './solana-error.ts';
import { durableNonce } from './durable-nonce.ts';
import type { Entry, LedgerView, Snapshot } from './solana-rpc.ts';
import { hashOf } from './solana-rpc.ts';

/** Has a thousand million SOL, and no key. */
const FAUCET = getAddressDecoder().decode(createHash('sha256').update('the faucet of the local ledger').digest());

/** A blockhash lives for as many blocks. */
const BLOCKHASH_BLOCKS = 150n;

/** Owns what the machine itself tells of its clock, its rent and its blocks. */
const SYSVAR_OWNER = address('Sysvar1111111111111111111111111111111111111');

const WRITTEN = 'solana.json';

interface Written {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly entries: readonly Entry[];
  readonly accounts: readonly WrittenAccount[];
}

interface WrittenAccount {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  /** Base64. */
  readonly data: string;
}

/**
 * The real virtual machine of Solana, in this process (litesvm), as a ledger of one validator: each transaction that is carried out is a
 * block of its own, which is beyond every fork when `finalityDepth` more have come. What litesvm does differently from the network is put
 * right here: a blockhash lives for 150 blocks and not until the next, and a transaction that fails has used its durable nonce up.
 */
export class SolanaLedger implements LedgerView {
  readonly #svm = new LiteSVM();
  /** Of accounts that came about in no transaction. */
  readonly #put = new Set<Address>();
  readonly #entries: Entry[] = [];
  readonly #byHash = new Map<string, Entry>();
  /** Blockhash to the last height that takes it. */
  readonly #recent = new Map<string, bigint>();
  #slot = 1n;
  finalityDepth = 0n;
  /** Nobody is in a hurry here. */
  readonly price = 0n;

  /** @param folder of an earlier run that is to go on */
  constructor(folder: string | null = null) {
    this.#svm.withTransactionHistory(100_000n);
    if (folder !== null && existsSync(join(folder, WRITTEN))) {
      this.#goOn(parseJsonWithBigInts(readFileSync(join(folder, WRITTEN), 'utf8')) as Written);
      return;
    }
    this.#remember();
    this.#place(FAUCET, { owner: SYSTEM_PROGRAM_ADDRESS, lamports: 10n ** 18n, data: new Uint8Array() });
  }

  get slot(): bigint {
    return this.#slot;
  }

  /** The newest slot that is beyond every fork. */
  get finalizedSlot(): bigint {
    return this.#slot > this.finalityDepth ? this.#slot - this.finalityDepth : 0n;
  }

  latestBlockhash(): { readonly blockhash: string; readonly lastHeight: bigint } {
    return { blockhash: this.#svm.latestBlockhash(), lastHeight: this.#slot + BLOCKHASH_BLOCKS };
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
    return this.#svm.getProgramAccounts(TOKEN_PROGRAM_ADDRESS).flatMap(({ address: at }) => {
      const token = tokenAccountIn(this.account(at));
      return token?.owner === owner ? [{ address: at, mint: token.mint }] : [];
    });
  }

  entry(hash: string): Entry | null {
    return this.#byHash.get(hash) ?? null;
  }

  /** Newest first. */
  naming(at: Address): readonly Entry[] {
    return this.#entries.filter(({ accounts }) => accounts.includes(at)).toReversed();
  }

  /** Every transaction in a slot beyond one, oldest first. */
  since(slot: bigint): readonly Entry[] {
    return this.#entries.filter((entry) => entry.slot > slot);
  }

  /**
   * Carries a transaction out as a leader would: `null` when it is dropped without a trace (no such blockhash, or the fee can not be paid),
   * and `signature` when its signature is wrong, which a node says at once.
   */
  send(wire: Uint8Array): Entry | 'signature' | null {
    const transaction = getTransactionDecoder().decode(wire);
    const hash = hashOf(transaction);
    const known = this.entry(hash);
    if (known !== null) return known;
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const accounts = [...message.staticAccounts];
    const lives = (this.#recent.get(message.lifetimeToken) ?? 0n) >= this.#slot;
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
    // Whatever it failed at, it has run when its fee is paid.
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
    };
    this.#enter(entry);
    this.advance(1n);
    return entry;
  }

  /** What would come of it, whatever its signature and its blockhash are. */
  simulate(wire: Uint8Array): { readonly error: unknown; readonly logs: readonly string[]; readonly units: bigint } {
    const transaction = getTransactionDecoder().decode(wire);
    this.#svm.withBlockhashCheck(false).withSigverify(false);
    const result = this.#svm.simulateTransaction(transaction);
    this.#svm.withBlockhashCheck(true).withSigverify(true);
    const failed = result instanceof FailedTransactionMetadata;
    const meta = result.meta();
    return { error: failed ? errorOf(result.err()) : null, logs: meta.logs(), units: meta.computeUnitsConsumed() };
  }

  /** So many blocks, with nothing in them. */
  advance(blocks: bigint): void {
    this.#slot += blocks;
    this.#svm.warpToSlot(this.#slot);
    this.#svm.expireBlockhash();
    this.#remember();
  }

  /**
   * Carries out instructions of an account whose key nobody has, as anvil does for its unlocked ones: the signature is only a name. Throws
   * where the network would not carry it out.
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
    const entry = this.send(Uint8Array.of(signers, ...names, ...bytes));
    this.#svm.withSigverify(true);
    if (entry === null || entry === 'signature' || entry.error !== null) {
      throw new Error(
        `not carried out: ${entry === null ? 'dropped' : JSON.stringify(entry === 'signature' ? entry : entry.error)}`,
      );
    }
    return entry;
  }

  /** Lamports for anybody. */
  airdrop(to: Address, amount: bigint): Entry {
    const instruction = getTransferSolInstruction({ source: createNoopSigner(FAUCET), destination: to, amount });
    return this.carryOut(FAUCET, [instruction]);
  }

  /** Puts an account there as it is, for what no transaction of a test could make. */
  put(account: EncodedAccount): void {
    this.#put.add(account.address);
    this.#svm.setAccount(account);
  }

  /** The name of the block in a slot. */
  blockhashOf(slot: bigint): string {
    return getAddressDecoder().decode(createHash('sha256').update(`block ${slot}`).digest());
  }

  /** Writes everything down, for the next run. */
  save(folder: string): void {
    mkdirSync(folder, { recursive: true });
    const named = new Set([...this.#put, ...this.#entries.flatMap(({ accounts }) => accounts)]);
    const written: Written = {
      slot: this.#slot,
      blockhash: this.#svm.latestBlockhash(),
      entries: this.#entries,
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

  /** Every machine draws the same row of blockhashes, so the old run's are passed by: one that came again would revive what it had signed. */
  #goOn({ slot, blockhash: last, entries, accounts }: Written): void {
    for (let passed = 0n; this.#svm.latestBlockhash() !== last; passed += 1n) {
      if (passed === slot) throw new Error(`${WRITTEN} is of another version of the machine: begin again with --fresh`);
      this.#svm.expireBlockhash();
    }
    for (const { address: at, owner, lamports: held, data } of accounts) {
      this.#place(at, { owner, lamports: held, data: decodeBase64(data) });
    }
    for (const entry of entries) this.#enter(entry);
    this.#slot = slot;
    this.advance(1n);
  }

  #place(at: Address, { owner, lamports: held, data }: Omit<Account, 'isExecutable'>): void {
    const space = BigInt(data.length);
    this.put({ address: at, data, executable: false, lamports: lamports(held), programAddress: owner, space });
  }

  #enter(entry: Entry): void {
    this.#entries.push(entry);
    this.#byHash.set(entry.hash, entry);
  }

  #remember(): void {
    this.#recent.set(this.#svm.latestBlockhash(), this.#slot + BLOCKHASH_BLOCKS);
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

  /** The network moves a durable nonce on even where the transaction fails; else it could be sent again and pay again. */
  #useUp(accounts: readonly Address[], value: string): void {
    for (const at of accounts) {
      const account = this.account(at);
      if (account === null || storedNonce(account)?.value !== value) continue;
      account.data.set(bytesOf(durableNonce(address(this.#svm.latestBlockhash()))), 40);
      this.#place(at, account);
    }
  }
}

/** What is missing of all lamports together: nothing else takes any away. */
function feeOf(before: readonly Snapshot[], after: readonly Snapshot[]): bigint {
  const total = (snapshots: readonly Snapshot[]) => snapshots.reduce((sum, one) => sum + one.lamports, 0n);
  return total(before) - total(after);
}

function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
