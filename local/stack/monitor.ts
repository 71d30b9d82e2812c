import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'viem';
import { createClient } from 'viem';
import { getBlock, getBlockNumber } from 'viem/actions';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import type { LocalBitcoinChain } from '../bitcoin/chain.ts';
import { localTransport } from '../evm/transport.ts';
import type { FaultyMonitor } from './faulty-monitor.ts';
import { reorganise } from './faulty-monitor.ts';
import type { LocalSolanaChain } from '../solana/chain.ts';

/** CAIP-2 of anvil, of the local chain of Solana, and of regtest. */
const LOCAL_CHAIN = 'eip155:31337';
const LOCAL_SOLANA = `solana:${LOCAL_CLUSTER}`;
const LOCAL_BITCOIN = `bip122:${GENESIS.regtest}`;
const POLL_MS = 100;

export interface MonitorEndpoint {
  /** The URL of the service. */
  readonly url: string;
  readonly endpointId: string;
  /** `whsec_` and base64. */
  readonly secret: string;
}

/** One observation of a monitor. */
export interface Observed {
  readonly txHash: string;
  /** CAIP-2; the local chain when absent. */
  readonly chain?: string;
  /** The monitor's id of a delivery, which a repetition keeps. A new one when absent. */
  readonly id?: string;
}

/**
 * Returns the body that reports one transaction, and the headers that sign it by Standard Webhooks.
 */
export function signedReport(secret: string, { txHash, chain = LOCAL_CHAIN, id = `msg_${randomUUID()}` }: Observed) {
  const body = { type: 'chain.activity', data: { chain, txHash } };
  return { body, headers: headersFor(secret, { id, text: JSON.stringify(body) }) };
}

function headersFor(secret: string, { id, text }: { readonly id: string; readonly text: string }) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Reports many transactions of the local chain in one delivery, in the shortest form. */
export async function reportMany(endpoint: MonitorEndpoint, hashes: readonly string[]): Promise<Response> {
  const text = JSON.stringify({ chain: LOCAL_CHAIN, data: hashes.map((hash) => ({ hash })) });
  const headers = headersFor(endpoint.secret, { id: `msg_${randomUUID()}`, text });
  return fetch(`${endpoint.url}${pathOf(endpoint)}`, { method: 'POST', headers, body: text });
}

/** Returns the path to which a monitor of Standard Webhooks delivers. */
export function pathOf({ endpointId }: Pick<MonitorEndpoint, 'endpointId'>): string {
  return `/webhook/standard-webhooks/${endpointId}`;
}

/** Reports one transaction. Returns the status of the response. */
export async function report(endpoint: MonitorEndpoint, seen: string | Observed): Promise<number> {
  const { body, headers } = signedReport(endpoint.secret, typeof seen === 'string' ? { txHash: seen } : seen);
  const response = await fetch(`${endpoint.url}${pathOf(endpoint)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

/**
 * Starts a monitor of the local chain: it reports every transaction of every block from now on, and
 * repeats a report without a response. With faults it reports late, twice, out of order or not at
 * all, and the chain has reorganisations.
 */
export async function watchLocalChain(
  rpcUrl: string,
  endpoint: MonitorEndpoint,
  faults: FaultyMonitor | null = null,
): Promise<{ readonly stop: () => Promise<void> }> {
  const client = createClient({ transport: localTransport(rpcUrl) });
  const controller = new AbortController();
  const begin = await getBlockNumber(client, { cacheTime: 0 });
  const watching = watch({ client, endpoint, faults, signal: controller.signal }, begin + 1n);
  return {
    stop: async () => {
      controller.abort();
      await watching;
    },
  };
}

/** A local chain that can be polled: it returns the transactions since the last poll. */
export interface Watchable {
  /** CAIP-2. */
  readonly chain: string;
  readonly updates: () => readonly string[];
  /** Causes reorganisations by the given faults, on a chain that has them. */
  readonly unsettle?: (faults: Pick<FaultyMonitor, 'depth'>) => void;
}

export function watchableSolana(chain: Pick<LocalSolanaChain, 'slot' | 'since'>): Watchable {
  let seen = chain.slot;
  return {
    chain: LOCAL_SOLANA,
    updates: () => {
      const hashes = chain.since(seen).map(({ hash }) => hash);
      seen = chain.slot;
      return hashes;
    },
  };
}

/**
 * A mempool transaction is reported, and so is the block that includes it. A replacement block has
 * a known height, so it is not reported: its transactions were reported already, or a scan finds
 * them.
 */
export function watchableBitcoin(
  chain: Pick<LocalBitcoinChain, 'height' | 'since' | 'waiting' | 'reorganise'>,
): Watchable {
  const begin = BigInt(chain.height) + 1n;
  let seen = chain.height;
  let waited: readonly string[] = [];
  return {
    chain: LOCAL_BITCOIN,
    updates: () => {
      const mined = chain.since(seen);
      seen = chain.height;
      const waiting = chain.waiting().map(({ hash }) => hash);
      const sighted = waiting.filter((hash) => !waited.includes(hash));
      waited = waiting;
      return [...mined, ...sighted];
    },
    unsettle: (faults) => {
      const depth = faults.depth(BigInt(chain.height), begin);
      if (depth > 0) chain.reorganise(depth);
    },
  };
}

/** Starts a monitor of a chain in this process. */
export function watchChain(
  { chain, updates, unsettle }: Watchable,
  endpoint: MonitorEndpoint,
  faults: FaultyMonitor | null = null,
): { readonly stop: () => Promise<void> } {
  const controller = new AbortController();
  const { signal } = controller;
  const follow = async () => {
    while (!signal.aborted) {
      const hashes = updates();
      for (const txHash of faults?.due(hashes) ?? hashes) {
        await reportUntilTaken(endpoint, { txHash, chain }, signal);
      }
      if (faults !== null && hashes.length > 0) unsettle?.(faults);
      await pause(POLL_MS, undefined, { signal }).catch(() => null);
    }
  };
  const watching = follow();
  return {
    stop: async () => {
      controller.abort();
      await watching;
    },
  };
}

interface Watch {
  readonly client: Client;
  readonly endpoint: MonitorEndpoint;
  readonly faults: FaultyMonitor | null;
  readonly signal: AbortSignal;
}

async function watch({ client, endpoint, faults, signal }: Watch, begin: bigint): Promise<void> {
  let next = begin;
  while (!signal.aborted) {
    // There is no block beyond the head, and a stopped chain returns none.
    const block = await getBlock(client, { blockNumber: next }).catch(() => null);
    const seen = block?.transactions ?? [];
    for (const hash of faults?.due(seen) ?? seen) await reportUntilTaken(endpoint, hash, signal);
    if (block === null) {
      await pause(POLL_MS);
      continue;
    }
    const depth = faults?.depth(next, begin) ?? 0;
    if (depth > 0) await reorganise(client, depth);
    next += 1n;
  }
}

async function reportUntilTaken(
  endpoint: MonitorEndpoint,
  seen: string | Observed,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if ((await report(endpoint, seen).catch(() => 0)) === 200) return;
    await pause(POLL_MS);
  }
}
