import type * as z from 'zod';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { Activity } from '#domain/activity/activity.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { shownPart } from '#domain/activity/shown-part.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { nameOf } from '#domain/policy/rules.ts';
import { assetRecord, hiddenChangesRecord, movementsRecord } from '#http/encode/asset.ts';
import type { RecordScope } from '#http/encode/transaction.ts';
import type { transactionSchema } from '#http/encode/transaction-schema.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';

/** The values of fields that only a transaction created by the vault has. */
const NOT_OURS = {
  spender: null,
  data: null,
  omitted: [],
  call: null,
  maxFee: null,
  paysFor: null,
  maxTokenFee: null,
  lookalikeOf: null,
  warnings: [],
  messageFormat: null,
  message: null,
  foreignChainId: null,
  droppedKeys: null,
  nonce: null,
  attempts: [],
  failure: null,
  signature: null,
  speed: null,
  note: null,
  externalId: null,
  digest: null,
  policyVersion: null,
  requirements: [],
  forbiddenBy: null,
  requiredApprovals: 0,
  approvalsCounted: 0,
  approvals: [],
  requiredRejections: 0,
  rejections: [],
  rejection: null,
  createdBy: null,
  expiresAt: null,
  notAfter: null,
};

/**
 * Returns the record of activity by others, in the form of every transaction. A single movement is
 * shown in `from`, `to`, `asset` and `amount`.
 */
export function activityRecord(
  activity: Activity,
  { policy, chain, viewer }: RecordScope,
): z.infer<typeof transactionSchema> {
  const { block, hash } = activity;
  // What is hidden is in no other field: an amount or a name would be read as a payment.
  const part = shownPart(activity);
  const names = { chain, rules: policy.rules, labels: activity.tokens };
  const single = part.movementCount === 1 ? (part.movements[0] ?? null) : null;
  return {
    ...NOT_OURS,
    id: activity.id,
    vaultId: activity.vaultId,
    version: activity.version,
    kind: 'activity',
    state: activity.state,
    stateReason: activity.stateReason,
    stateDetail: null,
    waitsFor: null,
    displayType: part.displayType,
    direction: part.direction,
    visible: activity.visible,
    hiddenReason: activity.hiddenReason,
    chain: activity.chain,
    from: single?.from ?? activity.signer,
    to: single?.to ?? activity.wallet,
    asset: single === null ? null : assetRecord(single.tokenAddress, names),
    amount: single?.amount ?? null,
    ...movementsRecord(part, names),
    hiddenChanges: hiddenChangesRecord(part.hiddenChanges, names),
    usdValue: part.usdValue?.usd ?? null,
    pricedAt: part.usdValue === null ? null : rfc3339(part.usdValue.pricedAtMs),
    feeAsset: assetRecord(null, names),
    feePaid: activity.signer === activity.wallet ? activity.fee : null,
    memo: activity.memo ?? null,
    txHash: hash,
    explorerUrl: chain?.explorer?.replace('{hash}', hash) ?? null,
    confirmations: block?.confirmations ?? 0,
    block: block === null ? null : { number: block.number, hash: block.hash },
    finality: activity.state !== 'SUCCEEDED' ? null : block?.isFinal === true ? 'finalized' : 'confirmed',
    knownAs: knownAs({ signer: activity.signer, movements: part.movements }, policy, chain),
    actionsForMe:
      chain !== null && canBePaidFor(activity, chain) && hasPermission(viewer, 'create')
        ? ['child-pays-for-parent']
        : [],
    createdAt: rfc3339(activity.createdAtMs),
    updatedAt: rfc3339(activity.updatedAtMs),
  };
}

/**
 * Reports whether the activity is an unmined incoming payment on a chain with UTXOs, so that a
 * child transaction can raise its fee.
 */
function canBePaidFor({ state, direction }: Activity, chain: Chain): boolean {
  return state === 'BROADCAST' && direction === 'in' && rulesFor(chain).ordering.by === 'utxos';
}

function knownAs(
  { signer, movements }: Pick<Activity, 'signer' | 'movements'>,
  { rules }: Policy,
  chain: Chain | null,
) {
  const parties = [signer, ...movements.flatMap(({ from, to }) => [from, to])];
  return [...new Set(parties)].flatMap((address) => {
    const name = address === null || chain === null ? null : nameOf(rules, chain.caip2, address);
    return address === null || name === null ? [] : [{ address, name }];
  });
}
