import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import type { TransactionRecord } from '#cli/api-client.ts';
import { Client } from '#cli/api-client.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { LocalChain } from '#local/evm/chain.ts';
import { localChain } from '#local/evm/chain.ts';
import { startAnvil } from '#local/evm/anvil.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { Stack, StackOptions } from '#local/stack/stack.ts';
import { stopped } from '#local/stack/stopped.ts';

/**
 * A golden state: the stored state of a deployment that one release wrote, with its chains. Every
 * later release opens it. `npm run state -- record` writes the one of this release.
 */

/** What a golden state holds, for its readers. All secrets in it belong to local chains. */
export interface Golden {
  /** The clock of a deployment that opens the state continues here: approvals must not expire. */
  readonly recordedAtMs: number;
  readonly people: Readonly<Record<string, GoldenPerson>>;
  /** A vault in token mode on three chains, with records in every state. */
  readonly treasury: ReadyVault;
  /** A vault in device mode, whose policy was changed several times. */
  readonly reserve: ReadyVault;
  /** The public recovery keys of the co-signers, in order. */
  readonly recoveryKeys: readonly string[];
  /** PKCS #8 of the devices of the reserve, by name. */
  readonly devices: Readonly<Record<string, string>>;
  /** The transactions of the treasury by their state, and of the reserve. */
  readonly ids: Readonly<Record<string, string>>;
  /** A policy change of the reserve that lacks two approvals. */
  readonly policyChange: string;
  /** A payment to the treasury that was reported, and could not be read yet. */
  readonly openDeposit: string;
  /** A key of the treasury, in the middle of a refresh. */
  readonly refreshingKey: string;
  /** What the API returned last, by the vault id: newest first. */
  readonly listed: Readonly<Record<string, readonly TransactionRecord[]>>;
  readonly historyLengths: Readonly<Record<string, number>>;
}

interface GoldenPerson {
  readonly id: string;
  readonly token: string;
  /** The value before a rotation. It works during its grace period. */
  readonly tokenInGrace: string | null;
  readonly cookie: string;
}

/** The sweep sends again what was due for a minute, and a rotated token works for five. */
const PAUSE_MS = 2 * 60_000;

const MAX_STATE_BYTES = 256 * 1024 * 1024;

const STATES = import.meta.dirname;
export const RECOVERY_KEYS = [1, 2, 3].map((node) => `recovery-${node}.pem`);

/** Returns the releases with a golden state, the oldest first. */
export function goldenReleases(): readonly string[] {
  const names = readdirSync(STATES).filter((name) => existsSync(join(STATES, name, 'golden.json')));
  return names.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

function folderOf(release: string): string {
  return join(STATES, release);
}

/** Stores a folder of chains and Workers as the golden state of a release. */
export function store(release: string, golden: Golden, folder: string): void {
  pack(folder, folderOf(release), ['chain.json', 'solana.json', 'bitcoin-2.json', ...RECOVERY_KEYS]);
  writeFileSync(join(folderOf(release), 'golden.json'), `${JSON.stringify(golden, null, 2)}\n`);
}

/**
 * Packs the Workers of a folder into `target`, with further files of that folder. The files of
 * wrangler and the bundles follow from the project, and the logs are no state.
 */
export function pack(folder: string, target: string, furtherFiles: readonly string[]): void {
  mkdirSync(target, { recursive: true });
  const files = [...furtherFiles, 'stack/secrets.json', 'stack/state'];
  // No names, owners or times of the machine, so that the same state gives the same bytes.
  const plain = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  const packed = execFileSync('tar', ['-C', folder, ...plain, '-c', ...files], { maxBuffer: MAX_STATE_BYTES });
  // Brotli is a part of Node, and makes a third of gzip.
  writeFileSync(join(target, 'state.tar.br'), brotliCompressSync(packed));
}

/** Unpacks what `pack` wrote to `source` into a folder. */
export function unpack(source: string, folder: string): void {
  const packed = brotliDecompressSync(readFileSync(join(source, 'state.tar.br')));
  execFileSync('tar', ['-C', folder, '-x'], { input: packed });
}

export interface OpenGolden {
  readonly golden: Golden;
  readonly options: StackOptions;
  readonly anvil: LocalChain;
  readonly anvilUrl: string;
  readonly solana: SolanaNode;
  readonly bitcoin: BitcoinNode;
  /** The folder with the recovery keys. */
  readonly folder: string;
  readonly end: () => Promise<void>;
}

/** Unpacks the golden state of a release into a new folder and starts its chains. */
export async function openGolden(release: string): Promise<OpenGolden> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-golden-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true }));
  unpack(folderOf(release), folder);
  const golden = JSON.parse(readFileSync(join(folderOf(release), 'golden.json'), 'utf8')) as Golden;
  const chains = await startChains(folder);
  started.defer(chains.end);
  const options: StackOptions = {
    ...stackOptions(folder, chains, golden.recoveryKeys),
    ...entriesOf([false, false, false, false]),
    variables: clockAfter(golden),
  };
  const running = started.move();
  return { ...chains, golden, options, folder, end: () => running.disposeAsync() };
}

/** Returns the variables with which the clock continues where a recording ended. */
export function clockAfter({ recordedAtMs }: Pick<Golden, 'recordedAtMs'>): Readonly<Record<string, string>> {
  return { CLOCK_OFFSET_MS: String(recordedAtMs + PAUSE_MS - Date.now()) };
}

/**
 * Returns the entries of the coordinator and its co-signers, in order: for each whether it runs the
 * synthetic next release instead of this one.
 */
export function entriesOf([isCoordinatorNext, ...areCosignersNext]: readonly boolean[]): Required<
  Pick<StackOptions, 'entry' | 'cosignerEntries'>
> {
  const name = (isNext: boolean | undefined) => (isNext === true ? 'next' : 'moved');
  return {
    entry: entry(`${name(isCoordinatorNext)}-coordinator.ts`),
    cosignerEntries: areCosignersNext.map((isNext) => entry(`${name(isNext)}-cosigner.ts`)),
  };
}

/** Returns the path of an entry of this folder. */
export function entry(name: string): string {
  return resolve(STATES, name);
}

export interface Chains {
  readonly anvil: LocalChain;
  readonly anvilUrl: string;
  readonly solana: SolanaNode;
  readonly bitcoin: BitcoinNode;
  readonly end: () => Promise<void>;
}

/** Starts the local chains of a folder. They write their state there when they end. */
export async function startChains(folder: string): Promise<Chains> {
  await using started = new AsyncDisposableStack();
  const node = started.adopt(await startAnvil({ statePath: join(folder, 'chain.json') }), stopped);
  const solana = started.adopt(await startSolanaNode({ folder }), stopped);
  const bitcoin = started.adopt(await startBitcoinNode({ folder }), stopped);
  const running = started.move();
  return {
    anvil: localChain(node.url),
    anvilUrl: node.url,
    solana,
    bitcoin,
    end: () => running.disposeAsync(),
  };
}

/** Returns the settings of a deployment on the chains of a folder. */
export function stackOptions(
  folder: string,
  { anvilUrl, solana, bitcoin }: Chains,
  recoveryKeys: readonly string[],
): StackOptions {
  return {
    folder: join(folder, 'stack'),
    rpcUrls: { anvil: [anvilUrl], 'solana-local': [solana.url], 'bitcoin-regtest': [bitcoin.url] },
    rateLimits: UNLIMITED,
    // A payment is CONFIRMING between its first and its second block.
    chains: [{ name: 'bitcoin-regtest', confirmations: 2 }],
    recoveryKeys,
  };
}

/** Returns the client of a person at an address of the service. */
export function clientOf(people: Golden['people'], name: string, url: string): Client {
  return new Client(url, people[name]?.token ?? '');
}

export function serviceOf({ url, serviceKey }: Pick<Stack, 'url' | 'serviceKey'>): Client {
  return new Client(url, serviceKey);
}
