import type { ReadTransaction } from '#chains/chain-client.ts';
import { chainClientFor, hasOneNode } from '#chains/clients/client-for.ts';
import type { ReadingProof } from '#domain/activity/correction.ts';
import type { TransactionId } from '#domain/id.ts';
import { keepClaim, provenTransaction } from '#jobs/record-hints.ts';
import { raiseUntraced } from '#jobs/operations/untraced-alert.ts';
import { valueAssets } from '#jobs/value-assets.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/**
 * Polls an inbound transaction again, until its block is beyond any reorg, or gone. The job does
 * not wait: the vault decides what the result means and when the next poll is due.
 */
export async function refreshActivity(env: CoordinatorEnv, vault: VaultDoors, id: TransactionId): Promise<void> {
  const work = await vault.work({ type: 'followWork', id });
  if (work === null) return;
  const { chain, hash, block, wallet, needsValuation } = work;
  const client = chainClientFor(env, chain);
  if (client === null) return;
  const read = await client.activity(hash, block);
  // An unreachable RPC node shows nothing; the vault's alarm sends this job again.
  if (!read.ok) {
    const { claimedBy: host } = read.refusal;
    if (host !== undefined) await keepClaim(env, { chain: chain.name, hash, host });
    return;
  }
  await raiseUntraced(env, { chain: chain.name, hosts: read.value?.untracedBy }, Date.now());
  // A failed transaction moved nothing: its record ends as that of an absent one.
  const succeeded = read.value?.hasFailed === true ? null : read.value;
  const proven = succeeded === null ? null : await provenTransaction(client, succeeded, [wallet]);
  const { seen, claimedBy, byBalances } = proven ?? { seen: null, claimedBy: null, byBalances: [] };
  if (claimedBy !== null) await keepClaim(env, { chain: chain.name, hash, host: claimedBy });
  const isValued = needsValuation && seen !== null && seen.block !== null;
  const { movements = [] } = seen ?? {};
  const valuation = isValued ? await valueAssets(env, { chain, client }, { movements, wallets: [wallet] }) : null;
  const proof = proofOf(read.value, !hasOneNode(env, chain.name));
  await vault.report({ type: 'recordActivity', chain: chain.name, hash, seen, valuation, byBalances, proof });
}

/** With two or more RPC nodes, a reading against a recorded block is a statement of two. */
function proofOf(read: ReadTransaction | null, hasTwoNodes: boolean): ReadingProof {
  return { isByTwo: hasTwoNodes, isTraced: read?.isTracedAlike === true };
}
