import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { Address } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import type { StackOptions } from '#local/stack/stack.ts';
import { stopped } from '#local/stack/stopped.ts';
import { clockAfter, entriesOf, unpack } from './golden-state.ts';

/**
 * The stored state of a deployment in which false answers of one RPC node have stopped a Solana
 * wallet. The code of release 0.2.0 wrote it, with `record-stopped-wallet.ts`. It is no golden
 * state of a release: its folder has no `golden.json`, by which `goldenReleases` finds those.
 */

/** What the state holds, for its readers. All secrets in it belong to a local chain. */
export interface StoppedWallet {
  /** The clock of a deployment that opens the state continues here: approvals must not expire. */
  readonly recordedAtMs: number;
  /** The token of the only signer. One approval is enough. */
  readonly token: string;
  readonly vaultId: number;
  readonly wallet: string;
  /** Payments whose bytes depend on nonce accounts that do not exist. They hold every slot. */
  readonly stuck: readonly string[];
  /** The one of them that the signer sped up. */
  readonly spedUp: string;
  /** The one of them that the signer cancelled. */
  readonly cancelled: string;
  /** A payment that waits for a slot. */
  readonly waiting: string;
}

export const STOPPED_WALLET = join(import.meta.dirname, '0.2.0-stopped-wallet');
export const SOLANA = 'solana-local';
/** The amount of every payment, in lamports. */
export const AMOUNT = 2_000_000n;

/** Returns the recipient of the payment with a number, which nothing else pays. */
export function recipient(i: number): Address {
  return getAddressDecoder().decode(ed25519.getPublicKey(new Uint8Array(32).fill(i + 1)));
}

interface OpenStoppedWallet {
  readonly held: StoppedWallet;
  readonly options: StackOptions;
  readonly node: SolanaNode;
  readonly end: () => Promise<void>;
}

/** Unpacks the state into a new folder, and starts its chain with two honest RPC nodes. */
export async function openStoppedWallet(): Promise<OpenStoppedWallet> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-stopped-wallet-'));
  await using started = new AsyncDisposableStack();
  started.defer(() => rm(folder, { recursive: true, force: true }));
  unpack(STOPPED_WALLET, folder);
  const held = JSON.parse(readFileSync(join(STOPPED_WALLET, 'stopped.json'), 'utf8')) as StoppedWallet;
  const node = started.adopt(await startSolanaNode({ folder }), stopped);
  const options: StackOptions = {
    ...stackOptionsOn(folder, [node.url, `${node.url}/second`]),
    ...entriesOf([false, false, false, false]),
    variables: clockAfter(held),
  };
  const running = started.move();
  return { held, options, node, end: () => running.disposeAsync() };
}

/** Returns the settings of a deployment on the Solana chain of a folder. */
export function stackOptionsOn(folder: string, urls: readonly string[]): StackOptions {
  return {
    folder: join(folder, 'stack'),
    rpcUrls: { [SOLANA]: urls },
    rateLimits: UNLIMITED,
    hasDashboard: false,
    notificationsEnabled: false,
  };
}
