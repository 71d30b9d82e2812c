import { amountHint, parseUnits, unitsText } from '#dashboard/money.ts';
import { abbreviated } from '#dashboard/text.ts';

/** What a policy says of the things that a form changes. */
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

/** What a vault has of something. */
interface Holding {
  readonly chain: string;
  readonly tokenId: string | null;
  readonly asset: {
    readonly tokenAddress: string | null;
    readonly symbol: string | null;
    readonly decimals: number | null;
  };
}

/** An asset that a rule can be about. */
export interface AssetChoice extends AssetPosition {
  /** Chain and token in one. */
  readonly name: string;
  readonly text: string;
  /** Null where nobody has said: then amounts are of the smallest unit. */
  readonly decimals: number | null;
}

/** A policy as it stands in the fields of a form. */
export interface RulesDraft {
  readonly signers: readonly string[];
  readonly threshold: string;
  readonly approvalMode: 'token' | 'device';
  readonly recipients: 'anyone' | 'address-book';
  readonly addressBook: RulesOfPolicy['addressBook'];
  readonly limits: readonly { readonly asset: string; readonly perTransaction: string; readonly perDay: string }[];
  readonly higherThresholds: readonly { readonly asset: string; readonly above: string; readonly threshold: string }[];
  /** Empty: such things are refused. */
  readonly unreadableThreshold: string;
  readonly note: string;
}

/** What was typed is no rule; said in words. */
export class BadRule extends Error {}

/** What the vault has, and what there are rules about already. */
export function assetChoices(policy: RulesOfPolicy, balances: readonly Holding[]): readonly AssetChoice[] {
  const held = balances
    .filter(({ tokenId }) => tokenId === null)
    .map(({ chain, asset }) => choiceOf({ chain, tokenAddress: asset.tokenAddress }, asset));
  const ruled = [...policy.limits, ...policy.higherThresholds].map((rule) => choiceOf(rule, null));
  // The first of a name is the one that knows more.
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
    return amount === null ? '' : unitsText(amount, decimals);
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

/** What is proposed: only what is another than before. Throws `BadRule` for what is no number, and where nothing is another. */
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

/** As a body has it. */
function mutable<T>(value: T): Mutable<T> {
  return structuredClone(value) as Mutable<T>;
}

type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;

/** Signers and rules are sets: the order in which somebody has clicked is none. Fields are compared by name. */
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

/** A number of voices; never an amount. */
function countOf(what: string, text: string): number {
  if (!/^[1-9][0-9]?$/.test(text.trim())) throw new BadRule(`${what}: enter a number from 1 to 99.`);
  return Number.parseInt(text, 10);
}
