import { BITCOIN_MAINNET_GENESIS } from '#domain/asset/chain.ts';

/** What a monitoring service sends, as it came: nothing is parsed before it is known who sent it. */
export interface Delivery {
  readonly body: Uint8Array;
  /** By its lower-case name; null when it is absent. */
  readonly header: (name: string) => string | null;
}

/** Where something may have happened. The chain is asked what did. */
export interface Hint {
  /** CAIP-2. */
  readonly chain: string;
  /** As the chain spells it. */
  readonly hash: string;
}

/** What a delivery says. Whatever is not understood is no hint, and never an error: an answer other than 2xx stops the monitor. */
export interface Report {
  readonly hints: readonly Hint[];
  /** Words of the monitor about itself that an operator should read; null when there are none. */
  readonly alarm: string | null;
}

/** One monitoring service: how its deliveries are known to be its own, and what they say. */
export interface Monitor {
  /** Whether somebody who has this secret sent exactly these bytes, within the time that the scheme allows. */
  readonly isAuthentic: (delivery: Delivery, secret: string, nowMs: number) => boolean;
  /** Header with the monitor's own name for a delivery, the same in every repetition of it; absent where it has none. */
  readonly idHeader?: string;
  readonly read: (body: unknown) => Report;
}

export const EMPTY_REPORT: Report = { hints: [], alarm: null };

/** Where a scheme has a time: this far from now in either direction, so that nobody plays back an old delivery. */
const TOLERANCE_MS = 5 * 60 * 1000;

/** Whether Unix seconds in a text are within the tolerance; no text is not. */
export function isRecent(seconds: string | null, nowMs: number): boolean {
  return (
    seconds !== null &&
    /^[0-9]{1,12}$/.test(seconds) &&
    Math.abs(Number.parseInt(seconds, 10) * 1000 - nowMs) <= TOLERANCE_MS
  );
}

const EVM_HASH = /^0x[0-9a-f]{64}$/;

/** The hashes of a list as hints on one chain, each once. What is no hash is left out. */
export function hintsOn(chain: string | undefined, hashes: readonly unknown[]): readonly Hint[] {
  if (chain === undefined) return [];
  const isEvm = chain.startsWith('eip155:');
  const known = hashes.flatMap((hash) => (typeof hash === 'string' ? [isEvm ? hash.toLowerCase() : hash] : []));
  return [...new Set(known)].filter((hash) => !isEvm || EVM_HASH.test(hash)).map((hash) => ({ chain, hash }));
}

/** Mainnets, by their genesis. */
export const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
export const BITCOIN = `bip122:${BITCOIN_MAINNET_GENESIS}`;

/** What names a transaction in a list of whole ones: of Bitcoin not `hash`, which is over its witness too. */
export function idsIn(chain: string | undefined, transactions: unknown): readonly unknown[] {
  const name = chain?.startsWith('bip122:') ? 'txid' : chain?.startsWith('solana:') ? 'signature' : 'hash';
  return items(transactions).map((row) => field(row, name));
}

/** The value of a field of something that may be anything. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** A list, or none. */
export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
