import type { Activity } from '#domain/activity/activity.ts';
import { readableAmount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { UserId } from '#domain/id.ts';
import { MIN_SHOWN_VALUE, parseUsdPrice, usdValueAtPrice } from '#domain/asset/price.ts';
import type { UsdValue } from '#domain/asset/valuation.ts';
import { unreachable } from '#domain/result.ts';
import { CONTENTS_CORRECTED, FINAL_BLOCK_GONE, TRANSFER_NOT_LOGGED } from '#domain/transaction/inclusion.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isPending } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { isCollectible } from '#domain/asset/movement.ts';
import { shownPart } from '#domain/activity/shown-part.ts';
import { joinedMembers } from '#domain/vault/membership.ts';

/**
 * The kinds of notifications that the inbox has: events that decide who controls a vault or an
 * account. Other lists have the transactions.
 */
export const INBOX_KINDS = ['vault', 'policy-change', 'credential-reset', 'account'] as const;
export type InboxKind = (typeof INBOX_KINDS)[number];
type NotificationKind = 'approval' | 'outcome' | 'activity' | InboxKind;

/**
 * A push notification (spec part 6 rule 5, and likewise for transactions that need or had
 * approvals, and for events that decide who controls a vault).
 */
export interface Notification {
  readonly kind: NotificationKind;
  readonly userIds: readonly UserId[];
  readonly title: string;
  readonly body: string;
}

/**
 * Returns the notification of a transaction of the vault in its current state, or null when there
 * is nothing to notify of.
 */
export function notificationOf(transaction: Transaction, vault: Vault, chain: Chain): Notification | null {
  const { name } = vault.configuration;
  const what = actionText(transaction, chain);
  if (isPending(transaction.state)) {
    const decisions = [...transaction.approvals, ...(transaction.openRejections ?? [])];
    const done = [transaction.createdBy, ...decisions.map(({ actor }) => actor)];
    const signers = vault.policy.signers.filter((signer) => !isInvited(vault.invitations, signer));
    const userIds = signers.filter((signer) => !done.some(({ userId }) => userId === signer));
    return { kind: 'approval', userIds, title: `${name}: approval needed`, body: what };
  }
  if (transaction.state !== 'SUCCEEDED' && transaction.state !== 'FAILED') return null;
  const title = `${name}: ${outcomeText(transaction)}`;
  return { kind: 'outcome', userIds: joinedMembers(vault), title, body: what };
}

function outcomeText({ state, stateReason }: Transaction): string {
  if (stateReason === FINAL_BLOCK_GONE) return 'no longer in the chain, do not pay again';
  if (stateReason === CONTENTS_CORRECTED) return 'its recorded amounts were corrected';
  if (state === 'FAILED') return 'failed';
  return stateReason === TRANSFER_NOT_LOGGED ? 'sent, check that the token arrived' : 'succeeded';
}

/**
 * Returns the notification of an activity. Returns null when the activity is hidden, failed or
 * dust: a stranger can send a wei at almost no cost, any number of times. Of a payment that was
 * final, members are notified when it is gone, too: they may have acted on it.
 */
export function notificationOfActivity(activity: Activity, vault: Vault, chain: Chain): Notification | null {
  const { state, block, suspicion } = activity;
  const wasFinal = state === 'FAILED' && block?.isFinal === true && suspicion === null;
  if (!wasFinal && (!activity.visible || state === 'FAILED')) return null;
  const { changes, usdValue } = shownPart(activity);
  if (isDust(usdValue)) return null;
  const moved = changes.find(({ units }) => units !== '0');
  const title = `${vault.configuration.name}: ${eventOf(activity)}`;
  const what =
    moved === undefined ? 'A transaction' : isCollectible(moved) ? 'A collectible' : amountText(moved, chain);
  return { kind: 'activity', userIds: joinedMembers(vault), title, body: `${what} on ${chain.name}` };
}

function eventOf(activity: Activity): string {
  const { state, stateReason } = activity;
  if (state === 'FAILED') return 'a final payment does not count any more';
  if (stateReason === CONTENTS_CORRECTED) return 'a final payment was corrected';
  return shownPart(activity).direction === 'in' ? 'received' : 'outgoing, not by this vault';
}

/**
 * Reports whether the value is below the one that hides an asset. A member can show such a record,
 * and those of release 0.2.0 show native amounts of such a value. An asset without a price is never
 * dust.
 */
function isDust(usdValue: UsdValue | null): boolean {
  return usdValue !== null && usdValueAtPrice(1n, 0, parseUsdPrice(usdValue.usd) ?? '0') < MIN_SHOWN_VALUE;
}

function actionText({ intent }: Transaction, chain: Chain): string {
  switch (intent.kind) {
    case 'transfer': {
      const { tokenAddress, amount, to } = intent;
      return `${amountText({ tokenAddress, units: amount }, chain)} on ${chain.name} to ${shortened(to)}`;
    }
    case 'contract-interaction':
      return `A contract call to ${shortened(intent.to)} on ${chain.name}`;
    case 'erc20-approve':
      return `An allowance for ${shortened(intent.spender)} on ${chain.name}`;
    case 'message':
      return `A message for ${chain.name}`;
    default:
      return unreachable(intent);
  }
}

/**
 * Returns an amount with a listed name only: the name that a token gives itself must not appear on
 * a lock screen.
 */
function amountText(
  { tokenAddress, units }: { readonly tokenAddress: string | null; readonly units: string },
  chain: Chain,
): string {
  const size = units.replace('-', '');
  if (tokenAddress === null) return `${readableAmount(BigInt(size), chain.nativeDecimals)} ${chain.nativeSymbol}`;
  const listed = listedToken(chain, tokenAddress);
  return listed === null ? 'A token' : `${readableAmount(BigInt(size), listed.decimals)} ${listed.symbol}`;
}

function shortened(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Reports whether the inbox has the notifications of a kind. */
export function isInboxKind(kind: string): kind is InboxKind {
  return INBOX_KINDS.some((one) => one === kind);
}
