import { asc, gte } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { RpcNodeState } from '#domain/operations/rpc-node.ts';
import { RPC_NODE_FAULTS } from '#domain/operations/rpc-node.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { fundedChains, rpcNodes } from '#store/operations/schema.ts';

/** Longer than the sweep takes to wake every vault. */
const FUNDED_FOR_MS = 130 * 60_000;

/** Replaces the states of all RPC nodes: one that is not configured any more has none. */
export async function replaceRpcNodes(db: D1Database, nodes: readonly RpcNodeState[]): Promise<void> {
  const insert = insertRows(rpcNodes);
  await db.batch([
    db.prepare('DELETE FROM rpc_nodes'),
    ...jsonTexts(nodes).map((text) => db.prepare(insert).bind(text)),
  ]);
}

/** Returns the states of the RPC nodes, in the order of the setting for each chain. */
export async function readRpcNodes(db: D1Database): Promise<readonly RpcNodeState[]> {
  const rows = await drizzle(db).select().from(rpcNodes).orderBy(asc(rpcNodes.chain), asc(rpcNodes.position));
  return rows.map((row) => ({ ...row, fault: RPC_NODE_FAULTS.find((known) => known === row.fault) ?? null }));
}

/** Stores that vaults have money on chains. */
export async function storeFundedChains(db: D1Database, chains: readonly string[], nowMs: number): Promise<void> {
  if (chains.length === 0) return;
  // One text: a row for each of many chains would exceed the hundred parameters of D1.
  const [rows] = jsonTexts(chains.map((chain) => ({ chain, seenAtMs: nowMs })));
  const update = 'ON CONFLICT (chain) DO UPDATE SET seen_at_ms = excluded.seen_at_ms';
  await db
    .prepare(`${insertRows(fundedChains)} ${update}`)
    .bind(rows)
    .run();
}

/** Returns the chains on which a vault has money, as far as the sweep has seen it. */
export async function readFundedChains(db: D1Database, nowMs: number): Promise<readonly string[]> {
  const rows = await drizzle(db)
    .select({ chain: fundedChains.chain })
    .from(fundedChains)
    .where(gte(fundedChains.seenAtMs, nowMs - FUNDED_FOR_MS))
    .orderBy(asc(fundedChains.chain));
  return rows.map(({ chain }) => chain);
}
