import { amountHint, parseUnits, typedUnits } from '#dashboard/money.ts';
import { abbreviated } from '#dashboard/text.ts';

/** The part of a policy that the form changes. */
export interface RulesOfPolicy {
  readonly signers: readonly string[];
  readonly threshold: number;
  readonly approvalMode: 'token' | 'device';
  readonly recipients: 'anyone' | 'address-book';
  readonly addressBook: readonly { readonly chain: string; readonly address: string; readonly name: string }[];
  readonly limits: readonly (AssetPosition & {
    readonly perTransaction: string | null;
    readonly perDay: string | null;
  })[];
  readonly higherThresholds: readonly (AssetPosition & { readonly above: string; readonly threshold: number })[];
  readonly unreadableThreshold: number | null;
}

interface AssetPosition {
  readonly chain: string;
  readonly tokenAddress: string | null;
}

/** An asset that the vault holds. */
interface Holding {
  readonly chain: string;
  readonly tokenId: string | null;
  readonly asset: {
    readonly tokenAddress: string | null;
    readonly symbol: string | null;
    readonly decimals: number | null;
  };
}

/** An asset that a rule can name. */
export interface AssetChoice extends AssetPosition {
  /** The chain and the token in one text. */
  readonly name: string;
  readonly text: string;
  /** Null when the decimals are unknown. Amounts are then in the smallest unit. */
  readonly decimals: number | null;
}

/** A policy in the fields of the form. */
export interface RulesDraft {
  readonly signers: readonly string[];
  readonly threshold: string;
  readonly approvalMode: 'token' | 'device';
  readonly recipients: 'anyone' | 'address-book';
  readonly addressBook: RulesOfPolicy['addressBook'];
  readonly limits: readonly { readonly asset: string; readonly perTransaction: string; readonly perDay: string }[];
  readonly higherThresholds: readonly { readonly asset: string; readonly above: string; readonly threshold: string }[];
  /** An empty text means that blind signing is refused. */
  readonly unreadableThreshold: string;
  readonly note: string;
}

/** The input is not a valid rule. The message is for the person. */
export class BadRule extends Error {}

/** Returns the assets that the vault holds and the assets that the policy has rules for. */
export function assetChoices(policy: RulesOfPolicy, balances: readonly Holding[]): readonly AssetChoice[] {
  const held = balances
    .filter(({ tokenId }) => tokenId === null)
    .map(({ chain, asset }) => choiceOf({ chain, tokenAddress: asset.tokenAddress }, asset));
  const ruled = [...policy.limits, ...policy.higherThresholds].map((rule) => choiceOf(rule, null));
  // The first entry of a name has more data.
  return [...new Map([...ruled, ...held].map((choice) => [choice.name, choice])).values()];
}

function choiceOf(
  { chain, tokenAddress }: AssetPosition,
  asset: { readonly symbol: string | null; readonly decimals: number | null } | null,
): AssetChoice {
  const symbol = asset?.symbol ?? (tokenAddress === null ? 'Native asset' : abbreviated(tokenAddress));
  return {
    chain,
    tokenAddress,
    name: nameOf({ chain, tokenAddress }),
    text: `${symbol} on ${chain}`,
    decimals: asset?.decimals ?? null,
  };
}

function nameOf({ chain, tokenAddress }: AssetPosition): string {
  return `${chain} ${tokenAddress ?? ''}`;
}

export function draftOf(policy: RulesOfPolicy, assets: readonly AssetChoice[]): RulesDraft {
  const shown = (position: AssetPosition, amount: string | null) => {
    const decimals = assets.find(({ name }) => name === nameOf(position))?.decimals ?? 0;
    return amount === null ? '' : typedUnits(amount, decimals);
  };
  const { signers, threshold, approvalMode, recipients, addressBook, unreadableThreshold } = policy;
  return {
    signers,
    threshold: String(threshold),
    approvalMode,
    recipients,
    addressBook,
    limits: policy.limits.map((limit) => ({
      asset: nameOf(limit),
      perTransaction: shown(limit, limit.perTransaction),
      perDay: shown(limit, limit.perDay),
    })),
    higherThresholds: policy.higherThresholds.map((step) => ({
      asset: nameOf(step),
      above: shown(step, step.above),
      threshold: String(step.threshold),
    })),
    unreadableThreshold: unreadableThreshold === null ? '' : String(unreadableThreshold),
    note: '',
  };
}

/**
 * Returns the changed fields. Throws `BadRule` for an invalid number and for a draft without a
 * change.
 */
export function patchOf(draft: RulesDraft, policy: RulesOfPolicy, assets: readonly AssetChoice[]) {
  const rules: RulesOfPolicy = {
    signers: draft.signers,
    threshold: countOf('Approval threshold', draft.threshold),
    approvalMode: draft.approvalMode,
    recipients: draft.recipients,
    addressBook: draft.addressBook.map(({ chain, address, name }) => ({
      chain,
      address: address.trim(),
      name: name.trim(),
    })),
    limits: draft.limits.map(({ asset, perTransaction, perDay }) => ({
      ...positionOf(asset, assets),
      perTransaction: perTransaction === '' ? null : amountOf(perTransaction, asset, assets),
      perDay: perDay === '' ? null : amountOf(perDay, asset, assets),
    })),
    higherThresholds: draft.higherThresholds.map(({ asset, above, threshold }) => ({
      ...positionOf(asset, assets),
      above: amountOf(above, asset, assets),
      threshold: countOf('Approvals above an amount', threshold),
    })),
    unreadableThreshold:
      draft.unreadableThreshold.trim() === ''
        ? null
        : countOf('Approvals for undecodable calls', draft.unreadableThreshold),
  };
  const isSame = (name: keyof RulesOfPolicy) =>
    JSON.stringify(inOrder(rules[name])) === JSON.stringify(inOrder(policy[name]));
  const changed = (Object.keys(rules) as (keyof RulesOfPolicy)[]).filter((name) => !isSame(name));
  if (changed.length === 0) throw new BadRule('No changes.');
  const patch: Partial<RulesOfPolicy> = Object.fromEntries(changed.map((name) => [name, rules[name]]));
  const note = draft.note.trim();
  return { ...mutable(patch), note: note === '' ? null : note };
}

/** Returns the value as a mutable request body. */
function mutable<T>(value: T): Mutable<T> {
  return structuredClone(value) as Mutable<T>;
}

type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;

/**
 * Sorts signers and rules, which are sets, so that the order of clicks is no change. Fields are
 * compared by name.
 */
function inOrder(value: unknown): unknown {
  return Array.isArray(value) ? value.map(fieldsText).toSorted() : value;
}

function fieldsText(one: unknown): string {
  if (typeof one !== 'object' || one === null) return String(one);
  return JSON.stringify(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function positionOf(asset: string, assets: readonly AssetChoice[]): AssetPosition {
  const found = assets.find(({ name }) => name === asset);
  if (found === undefined) throw new BadRule('Choose an asset for the amount.');
  return { chain: found.chain, tokenAddress: found.tokenAddress };
}

function amountOf(text: string, asset: string, assets: readonly AssetChoice[]): string {
  const { decimals, text: name } = assets.find((one) => one.name === asset) ?? { decimals: 0, text: asset };
  const amount = parseUnits(text, decimals ?? 0);
  if (amount === null) throw new BadRule(`${name}: ${amountHint(decimals ?? 0)}`);
  return amount;
}

/** Parses a number of approvals. It never parses an amount. */
function countOf(what: string, text: string): number {
  if (!/^[1-9][0-9]?$/.test(text.trim())) throw new BadRule(`${what}: enter a number from 1 to 99.`);
  return Number.parseInt(text, 10);
}
