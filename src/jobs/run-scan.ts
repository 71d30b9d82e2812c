import type { ScanMemory } from '#chains/chain-client.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { sendActivity } from '#jobs/activity-queue.ts';
import type { HintOutcome } from '#jobs/record-hints.ts';
import { afterTry, needsRetry, recordHints } from '#jobs/record-hints.ts';
import { raiseUntraced } from '#jobs/operations/untraced-alert.ts';
import { MAX_HINTS } from '#domain/activity/hint-budget.ts';
import { parseVaultId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { inGroups } from '#store/batched-query.ts';
import type { StoredScan, TriedScan } from '#store/scans.ts';
import { openScan, storeHashes, updateScan } from '#store/scans.ts';

/**
 * Does the next step of a scan. The first step reads the blocks and stores the hashes that it
 * finds; the next one records them in the vaults. A step that is interrupted is repeated, and a
 * hash is removed from the scan only after it is recorded.
 */
export async function runScan(env: CoordinatorEnv, scanId: string): Promise<void> {
  const scan = await openScan(env.DB, scanId);
  if (scan === null) return;
  if (scan.hashes === null) await readBlocks(env, scan);
  else await recordHashes(env, scan, scan.hashes);
}

/** What scans of this isolate remember of RPC nodes. */
const memories = new WeakMap<CoordinatorEnv, ScanMemory>();

function memoryOf(env: CoordinatorEnv): ScanMemory {
  const memory = memories.get(env) ?? new Map();
  memories.set(env, memory);
  return memory;
}

/** Returns the tokens of a wallet whose payments are searched first. */
async function tokensOf(env: CoordinatorEnv, { vaultId }: StoredScan, chain: string): Promise<readonly string[]> {
  const id = parseVaultId(vaultId);
  return id === null ? [] : vaultStub(env, id).work({ type: 'scanTokens', chain });
}

async function readBlocks(env: CoordinatorEnv, scan: StoredScan): Promise<void> {
  const startMs = Date.now();
  const chain = findChain(chainsFrom(env), scan.chain);
  const client = chain === null ? null : chainClientFor(env, chain);
  if (client === null) return endTry(env, scan, { ...UNREAD, outcomes: ['unknown-chain'], startMs });
  const tokens = await tokensOf(env, scan, client.chain.name);
  const found = await client.scan(scan.address, scan.sinceBlock, { memory: memoryOf(env), tokens });
  if (!found.ok) return endTry(env, scan, { ...UNREAD, outcomes: ['away'], startMs });
  const { hashes, untracedBy, ...coverage } = found.value;
  if (untracedBy !== undefined) {
    const { vaultId } = scan;
    console.error(JSON.stringify({ event: 'scan-untraced', vaultId, chain: scan.chain, blocks: coverage.untraced }));
    await raiseUntraced(env, { chain: client.chain.name, hosts: [untracedBy] }, startMs);
  }
  const known = new Set(await knownOf(env, scan, hashes));
  const groups = [true, false].flatMap((isFresh) => {
    const some = hashes.filter((hash) => known.has(hash) !== isFresh);
    return inGroups(some, MAX_HINTS).map((group) => ({ hashes: group, isFresh }));
  });
  const ids = await storeHashes(env.DB, scan, { groups, coverage, nowMs: Date.now() });
  await sendActivity(
    env,
    ids.map((scanId) => ({ scanId })),
  );
}

/** The result of a try that read no blocks. */
const UNREAD = { left: null, added: 0, unrecorded: 0 } as const;

/** The maximum number of hashes in one call of a vault object: about half a megabyte. */
const MAX_HASHES = 5_000;

/** Returns the transactions that the vault of a scan has in its lists now. */
async function knownOf(env: CoordinatorEnv, scan: StoredScan, hashes: readonly string[]): Promise<readonly string[]> {
  const id = parseVaultId(scan.vaultId);
  const chain = findChain(chainsFrom(env), scan.chain);
  if (id === null || chain === null) return [];
  const known: string[] = [];
  for (const some of inGroups(hashes, MAX_HASHES)) {
    known.push(...(await vaultStub(env, id).work({ type: 'knownTransactions', chain: chain.name, hashes: some })));
  }
  return known;
}

/**
 * The counts of a report come from the vault, and not from the outcomes of a try. A repeated try
 * finds its own record as unchanged, and an outcome is that of all vaults. What the vault did not
 * have when the blocks were read, and has when the hash has ended, is new. This includes what a
 * monitor reported in between.
 */
async function recordHashes(env: CoordinatorEnv, scan: StoredScan, hashes: readonly string[]): Promise<void> {
  const startMs = Date.now();
  const hints = hashes.map((hash) => ({ chain: scan.chain, hash }));
  const outcomes = await recordHints(env, hints, { ...scan, sinceMs: scan.startedAtMs });
  const left = hashes.filter((_, i) => {
    const outcome = outcomes[i];
    return outcome === undefined || needsRetry(outcome);
  });
  const ended = scan.isFresh ? hashes.filter((hash) => !left.includes(hash)) : [];
  const added = (await knownOf(env, scan, ended)).length;
  await endTry(env, scan, { left, added, unrecorded: ended.length - added, outcomes, startMs });
}

interface Try extends Pick<TriedScan, 'added' | 'unrecorded'> {
  /** The hashes that are still to be recorded; null until the blocks are read. */
  readonly left: readonly string[] | null;
  readonly outcomes: readonly HintOutcome[];
  readonly startMs: number;
}

/** Stores what the try came to. The sweep sends the message of the next one again if it is lost. */
async function endTry(
  env: CoordinatorEnv,
  scan: StoredScan,
  { left, outcomes, startMs, ...counts }: Try,
): Promise<void> {
  const { id: scanId, vaultId, chain } = scan;
  const next = afterTry(outcomes, { ...scan, sinceMs: scan.startedAtMs }, startMs);
  if (next.state === 'failed') console.error(JSON.stringify({ event: 'scan-failed', scanId, vaultId, chain }));
  await updateScan(env.DB, scan, { ...next, ...counts, hashes: left });
  if (next.state === 'open') {
    await env.ACTIVITY_QUEUE.send({ scanId }, { delaySeconds: Math.ceil((next.dueAtMs - startMs) / 1000) });
  }
}
