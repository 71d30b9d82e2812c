import * as z from 'zod';
import type { Chain } from '#domain/asset/chain.ts';
import { isOpen } from '#domain/access/credential-reset.ts';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { awaitsChangeApprovalOf } from '#domain/policy/policy-change.ts';
import { countedApprovers } from '#domain/policy/counted-approvals.ts';
import { credentialResetRecord, credentialResetSchema } from '#http/encode/credential-reset.ts';
import { usdSchema } from '#http/encode/asset.ts';
import { valueRecord } from '#http/encode/balance.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { transactionRecord } from '#http/encode/transaction.ts';
import { transactionSchema } from '#http/encode/transaction-schema.ts';
import { assetName } from '#prices/price-source.ts';
import { cachedPrices } from '#store/valuations.ts';
import type { PolicyChangeView } from '#objects/vault/views.ts';

const text = z.string();

const shared = {
  id: text,
  vaultName: text.nullable(),
  deadline: z.iso.datetime().meta({
    description:
      'The decision is possible before this time. Of a credential reset: a credential can be issued from this time, ' +
      'and the reset can still be cancelled until it is',
  }),
  createdBy: text.nullable().meta({ description: 'Null when an operator created it' }),
};

const approvals = { approvalsCounted: z.int(), requiredApprovals: z.int() };

/** The schema of something that waits for the decision of the caller. */
export const pendingDecisionSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('transaction'),
      vaultId: z.int(),
      ...shared,
      ...approvals,
      usdValue: usdSchema.nullable().meta({
        description:
          'The amount at the last known price, in US dollars; null without one. `transaction.usdValue` has the value ' +
          'at the time of the payment, once it is final',
      }),
      pricedAt: z.iso.datetime().nullable(),
      transaction: transactionSchema,
    }),
    z.strictObject({
      kind: z.literal('policy-change'),
      vaultId: z.int(),
      ...shared,
      ...approvals,
      note: text.nullable(),
      version: z.int().meta({ description: 'The version of the policy that the change would put in force, or renew' }),
      renewsVersion: z.int().nullable(),
    }),
    z.strictObject({
      kind: z.literal('credential-reset'),
      vaultId: z
        .int()
        .nullable()
        .meta({ description: 'A vault in which the caller can cancel the reset; null for a reset of the caller' }),
      ...shared,
      credentialReset: credentialResetSchema,
    }),
  ])
  .meta({ id: 'PendingDecision' });

export type PendingDecisionRecord = z.infer<typeof pendingDecisionSchema>;

/**
 * Returns the asset of a pending payment; null for anything else. An allowance has no value of its
 * own.
 */
function pricedAsset(item: PendingDecisionRecord, chains: readonly Chain[]): string | null {
  if (item.kind !== 'transaction') return null;
  const { kind, asset, chain: name } = item.transaction;
  const chain = chains.find((one) => one.name === name);
  return kind !== 'transfer' || asset === null || chain === undefined
    ? null
    : assetName(chain.caip2, asset.tokenAddress);
}

/** Returns the items with the values of their amounts at the last known prices. */
export async function withValues(
  db: D1Database,
  chains: readonly Chain[],
  items: readonly PendingDecisionRecord[],
): Promise<readonly PendingDecisionRecord[]> {
  const assets = items.map((item) => pricedAsset(item, chains));
  const named = [...new Set(assets.filter((asset) => asset !== null))];
  const prices = named.length === 0 ? [] : await cachedPrices(db, named);
  return items.map((item, i) => {
    const price = prices.find(({ asset }) => asset === assets[i]);
    if (item.kind !== 'transaction' || price === undefined) return item;
    const { amount, asset } = item.transaction;
    return { ...item, ...valueRecord(BigInt(amount ?? '0'), asset?.decimals ?? null, price) };
  });
}

/** Null for a reset of the caller. */
type VaultName = { readonly id: number; readonly name: string };

/** Returns a transaction that the reader can approve; null when the reader no longer can. */
export function pendingTransaction(
  transaction: ReturnType<typeof transactionRecord>,
  { id: vaultId, name: vaultName }: VaultName,
): PendingDecisionRecord | null {
  const { id, actionsForMe, createdBy, expiresAt, approvalsCounted, requiredApprovals } = transaction;
  if (!actionsForMe.includes('approve') || expiresAt === null) return null;
  const about = { id, vaultId, vaultName, deadline: expiresAt, createdBy, approvalsCounted, requiredApprovals };
  return { kind: 'transaction', ...about, usdValue: null, pricedAt: null, transaction };
}

/** Returns a policy change that the reader can approve; null when the reader no longer can. */
export function pendingChange(
  { change, decider, viewer }: PolicyChangeView,
  { id: vaultId, name: vaultName }: VaultName,
): PendingDecisionRecord | null {
  if (change.state !== 'PENDING' || viewer === null || !awaitsChangeApprovalOf(viewer, change, decider)) return null;
  const { id, note, requiredApprovals, renewsVersion = null } = change;
  return {
    kind: 'policy-change',
    id,
    vaultId,
    vaultName,
    deadline: rfc3339(change.decisionEndsAtMs),
    createdBy: change.createdBy?.userId ?? null,
    approvalsCounted: countedApprovers(change.digest, change.approvals, decider).size,
    requiredApprovals,
    note,
    version: change.policy.version,
    renewsVersion,
  };
}

/** Returns a reset that can be cancelled; null when it has ended. */
export function pendingReset(reset: CredentialReset, vault: VaultName | null): PendingDecisionRecord | null {
  if (!isOpen(reset, Date.now())) return null;
  return {
    kind: 'credential-reset',
    id: reset.id,
    vaultId: vault?.id ?? null,
    vaultName: vault?.name ?? null,
    deadline: rfc3339(reset.effectiveAtMs),
    createdBy: null,
    credentialReset: credentialResetRecord(reset),
  };
}
