import type * as z from 'zod';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import {
  awaitsApprovalOf,
  hasRejected,
  currentApprovers,
  requiredApprovalsNow,
  mayCancelTransaction,
} from '#domain/transaction/approvals.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { requiresExtraApproval } from '#domain/transaction/intent.ts';
import { mayEndUnknown } from '#domain/transaction/job.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import { publicRejection } from '#domain/transaction/rpc-rejection.ts';
import { unreachable } from '#domain/result.ts';
import { nameOf, ruleViolation, triggeredThresholds } from '#domain/policy/rules.ts';
import { rejectionsRequired } from '#domain/policy/optional-rules.ts';
import type { Approval, Rejection } from '#domain/access/approval.ts';
import { finalityOf, isPending, isReplaceable, isStoppable, transactionHash } from '#domain/transaction/transaction.ts';
import type { AssetNames } from '#http/encode/asset.ts';
import { assetRecord, movementsRecord } from '#http/encode/asset.ts';
import { violationText } from '#http/encode/violation-text.ts';
import type { transactionSchema } from '#http/encode/transaction-schema.ts';
import { deviceSignatureRecord } from '#http/encode/device-signature.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { PublicAttempt, PublicTransaction } from '#objects/vault/documents/listed-document.ts';

/** The context of a record: the current policy, the reader and the chain. */
export interface RecordScope {
  readonly policy: Policy;
  readonly viewer: Member;
  readonly chain: Chain | null;
}

/**
 * Returns the transaction in the form of every endpoint, with all that a client needs to act
 * without a second request.
 */
export function transactionRecord(
  transaction: PublicTransaction,
  scope: RecordScope,
): z.infer<typeof transactionSchema> {
  const { intent, inclusion } = transaction;
  const hash = transactionHash(transaction);
  const names = { chain: scope.chain, rules: scope.policy.rules };
  return {
    id: transaction.id,
    vaultId: transaction.vaultId,
    version: transaction.version,
    kind: intent.kind,
    state: transaction.state,
    stateReason: transaction.stateReason,
    stateDetail: publicRejection(transaction),
    waitsFor: transaction.waitsFor,
    displayType: transaction.displayType,
    direction: transaction.direction,
    visible: transaction.visible,
    hiddenReason: null,
    ...movementsRecord(inclusion, { ...names, labels: inclusion?.tokens ?? [] }),
    hiddenChanges: [],
    chain: transaction.chain,
    from: intent.from,
    ...actionRecord(intent, names),
    warnings: warningsOf(intent, scope.chain?.tokens ?? []),
    usdValue: inclusion?.usdValue?.usd ?? null,
    pricedAt: inclusion?.usdValue == null ? null : rfc3339(inclusion.usdValue.pricedAtMs),
    feeAsset: assetRecord(null, names),
    feePaid: inclusion?.feePaid ?? null,
    nonce: transaction.attempts.at(-1)?.nonce ?? null,
    txHash: hash,
    explorerUrl: hash === null ? null : (scope.chain?.explorer?.replace('{hash}', hash) ?? null),
    attempts: transaction.attempts.map(attemptRecord),
    confirmations: inclusion?.confirmations ?? 0,
    block: inclusion === null ? null : { number: inclusion.blockNumber, hash: inclusion.blockHash },
    finality: finalityOf(transaction),
    failure: inclusion?.failure ?? null,
    signature: transaction.signature,
    speed: intent.kind === 'message' ? null : transaction.speed,
    note: intent.note,
    externalId: transaction.externalId,
    digest: transaction.digest,
    knownAs: knownAs(transaction, scope.policy),
    policyVersion: intent.policyVersion,
    ...explanation(transaction, scope.policy),
    requiredApprovals: requiredApprovalsNow(transaction, scope.policy),
    approvalsCounted: currentApprovers(transaction, scope.policy).length,
    approvals: transaction.approvals.map(approvalRecord),
    requiredRejections: rejectionsRequired(scope.policy.rules),
    rejections: rejectionsIn(transaction).map(rejectionRecord),
    rejection: transaction.rejection === null ? null : rejectionRecord(transaction.rejection),
    actionsForMe: actionsFor(transaction, scope),
    createdBy: transaction.createdBy.userId,
    createdAt: rfc3339(transaction.createdAtMs),
    updatedAt: rfc3339(transaction.updatedAtMs),
    expiresAt: rfc3339(intent.expiresAtMs),
    notAfter: intent.kind === 'message' || intent.notAfterMs === undefined ? null : rfc3339(intent.notAfterMs),
  };
}

/**
 * Returns the action of a transaction. Fields that a kind does not have are null, so that a client
 * reads every kind in the same way.
 */
function actionRecord(intent: Intent, names: AssetNames) {
  const nothing = {
    to: null,
    asset: null,
    amount: null,
    spender: null,
    data: null,
    omitted: [],
    call: null,
    lookalikeOf: null,
    paysFor: null,
    memo: null,
    maxTokenFee: null,
  };
  const noMessage = { messageFormat: null, message: null, foreignChainId: null, droppedKeys: null };
  const none = { ...nothing, maxFee: null, ...noMessage };
  switch (intent.kind) {
    case 'transfer': {
      const { to, tokenAddress, amount, maxFee } = intent;
      const { lookalikeOf, paysFor = null, memo = null, maxTokenFee = null } = intent;
      return {
        ...none,
        to,
        asset: assetRecord(tokenAddress, names),
        amount,
        maxFee,
        lookalikeOf,
        paysFor,
        memo,
        maxTokenFee,
      };
    }
    case 'contract-interaction': {
      const { to, data, value: amount, maxFee } = intent;
      return {
        ...none,
        to,
        asset: assetRecord(null, names),
        amount,
        data,
        call: decodeCall(data),
        maxFee,
        lookalikeOf: intent.lookalikeOf,
      };
    }
    case 'erc20-approve': {
      const { tokenAddress, spender, amount, maxFee } = intent;
      return {
        ...none,
        to: tokenAddress,
        asset: assetRecord(tokenAddress, names),
        amount,
        spender,
        maxFee,
        lookalikeOf: intent.lookalikeOf,
      };
    }
    case 'message':
      return {
        ...none,
        messageFormat: intent.format,
        message: intent.message,
        foreignChainId: intent.foreignChainId ?? null,
        droppedKeys: intent.droppedKeys ?? null,
      };
    default:
      return unreachable(intent);
  }
}

function knownAs({ exposure }: PublicTransaction, { rules }: Policy) {
  return exposure.beneficiaries.flatMap((address) => {
    const name = nameOf(rules, exposure.chain, address);
    return name === null ? [] : [{ address, name }];
  });
}

/**
 * Returns the reasons for the number of required approvals, and the violation of the current
 * policy, if any.
 */
function explanation(transaction: PublicTransaction, policy: Policy) {
  const { exposure, intent, requiredApprovals } = transaction;
  const now = triggeredThresholds(policy.rules, exposure).map(({ rule, approvals, above }) => ({
    rule,
    approvals,
    detail:
      above === null
        ? 'The effect of the transaction cannot be determined (blind signing).'
        : `The transaction spends more than ${above} of one asset.`,
  }));
  const breach = isPending(transaction.state) ? ruleViolation(policy.rules, exposure) : null;
  return {
    requirements: [
      {
        rule: 'threshold',
        approvals: policy.threshold,
        detail: 'The policy of the vault requires this number of approvals.',
      },
      ...now,
      ...(policy.rules.requiredDevice === 'ed25519'
        ? [{ rule: 'required-device', approvals: 1, detail: 'One approval must come from an Ed25519 device.' }]
        : []),
      ...(requiredApprovals > thresholdFor(policy, exposure)
        ? [
            {
              rule: 'at-creation',
              approvals: requiredApprovals,
              detail: 'The policy at creation required this number of approvals.',
            },
          ]
        : []),
      ...(requiresExtraApproval(intent)
        ? [
            {
              rule: 'looks-alike',
              approvals: requiredApprovalsNow(transaction, policy),
              detail:
                'An address resembles a known address, so one extra approval is required if there are enough signers.',
            },
          ]
        : []),
    ],
    forbiddenBy: breach === null ? null : violationText(breach),
  };
}

function attemptRecord({ number, purpose, nonce, maxFee, signed, sent }: PublicAttempt) {
  return {
    number,
    purpose,
    nonce,
    maxFee,
    hash: signed?.hash ?? null,
    outcome: sent?.outcome ?? null,
    answer: sent?.answer ?? null,
    sentTimes: sent?.times ?? 0,
    sentAt: sent === null ? null : rfc3339(sent.atMs),
  };
}

export function approvalRecord(approval: Approval) {
  const device = approval.device === null ? null : deviceSignatureRecord(approval.device);
  return { userId: approval.actor.userId, digest: approval.digest, device, at: rfc3339(approval.atMs) };
}

/** Returns all rejections of a transaction, the oldest first. */
function rejectionsIn({ openRejections = [], rejection }: PublicTransaction): readonly Rejection[] {
  return rejection === null ? openRejections : [...openRejections, rejection];
}

export function rejectionRecord(rejection: Rejection) {
  return { ...approvalRecord(rejection), reason: rejection.reason ?? null };
}

type ReaderAction = 'approve' | 'reject' | 'cancel' | 'end-unknown' | 'speed-up';

/** Returns the actions that this reader can take now. */
function actionsFor(transaction: PublicTransaction, { viewer, policy }: RecordScope): ReaderAction[] {
  const stops = stopsFor(transaction, { viewer, policy });
  if (isReplaceable(transaction)) {
    const isUnknown = mayEndUnknown(transaction) && stops.includes('cancel');
    return [
      ...(hasPermission(viewer, 'decide') ? ['speed-up' as const] : []),
      ...(transaction.cancelling ? [] : stops),
      ...(isUnknown ? ['end-unknown' as const] : []),
    ];
  }
  if (transaction.state === 'SIGNING') return transaction.cancelling ? [] : stops;
  if (!isPending(transaction.state)) return [];
  return [
    ...(awaitsApprovalOf(viewer, transaction, policy) ? ['approve' as const] : []),
    ...(mayReject(viewer, transaction) ? ['reject' as const] : []),
    ...stops,
  ];
}

function mayReject(viewer: Member, transaction: PublicTransaction): boolean {
  return hasPermission(viewer, 'decide') && !hasRejected(transaction, viewer.userId);
}

/** In device mode a signer stops an approved transaction by a rejection, which a device signs. */
function stopsFor(
  transaction: PublicTransaction,
  { viewer, policy }: Pick<RecordScope, 'viewer' | 'policy'>,
): ('cancel' | 'reject')[] {
  const isRejected = isStoppable(transaction) && policy.approvalMode === 'device' && mayReject(viewer, transaction);
  return [
    ...(mayCancelTransaction(viewer, transaction, policy) ? ['cancel' as const] : []),
    ...(isRejected ? ['reject' as const] : []),
  ];
}
