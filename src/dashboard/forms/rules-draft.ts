import { amountHint, parseUnits, typedUnits } from '#dashboard/amounts/money.ts';
import type { Asset } from '#dashboard/amounts/asset-name.ts';
import type { FieldFault } from '#dashboard/problem-text.ts';
import { faultText } from '#dashboard/problem-text.ts';
import { byTrust, choiceName } from '#dashboard/amounts/asset-name.ts';

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
  /** A rule that is null is absent from the policy. */
  readonly signOnce: 'every-cosigner' | 'quorum' | null;
  readonly limitsIncludeFees: boolean | null;
  readonly requiredDevice: 'any' | 'ed25519' | null;
  readonly unboundMessages: 'allow' | 'refuse' | null;
  readonly maxFees: readonly { readonly chain: string; readonly amount: string }[] | null;
  readonly tokens: readonly Token[] | null;
  readonly rejections: number | null;
  readonly excludedMembers: readonly string[] | null;
}

interface Token {
  readonly chain: string;
  readonly tokenAddress: string;
  readonly symbol: string;
  readonly decimals: number;
}

interface AssetPosition {
  readonly chain: string;
  readonly tokenAddress: string | null;
}

/** An asset that the vault holds. */
interface Holding {
  readonly chain: string;
  readonly tokenId: string | null;
  readonly asset: Asset;
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
  /** An empty text leaves an absent rule absent. */
  readonly signOnce: string;
  readonly limitsIncludeFees: string;
  readonly requiredDevice: string;
  readonly unboundMessages: string;
  readonly maxFees: readonly { readonly chain: string; readonly amount: string }[];
  readonly tokens: readonly TokenRow[];
  /** An empty text means one rejection. */
  readonly rejections: string;
  readonly excludedMembers: readonly string[];
  readonly note: string;
}

/** The rows of each list of a draft. */
const ROW_FIELDS = {
  addressBook: ['chain', 'address', 'name'],
  limits: ['asset', 'perTransaction', 'perDay'],
  higherThresholds: ['asset', 'above', 'threshold'],
  maxFees: ['chain', 'amount'],
  tokens: ['chain', 'tokenAddress', 'symbol', 'decimals'],
} as const;

/** Returns the draft that a tab has kept; null when a part of it has another form. */
export function keptDraft(kept: object): RulesDraft | null {
  const text = (name: string) => textIn(kept, name);
  const rows = <Field extends string>(name: string, fields: readonly Field[]) => {
    const list: unknown = Reflect.get(kept, name);
    if (!Array.isArray(list)) throw new OtherForm();
    return list.map((row: unknown) => {
      if (typeof row !== 'object' || row === null) throw new OtherForm();
      return Object.fromEntries(fields.map((field) => [field, textIn(row, field)])) as Record<Field, string>;
    });
  };
  try {
    return {
      signers: textsIn(kept, 'signers'),
      threshold: text('threshold'),
      approvalMode: text('approvalMode') === 'device' ? 'device' : 'token',
      recipients: text('recipients') === 'address-book' ? 'address-book' : 'anyone',
      addressBook: rows('addressBook', ROW_FIELDS.addressBook),
      limits: rows('limits', ROW_FIELDS.limits),
      higherThresholds: rows('higherThresholds', ROW_FIELDS.higherThresholds),
      unreadableThreshold: text('unreadableThreshold'),
      signOnce: text('signOnce'),
      limitsIncludeFees: text('limitsIncludeFees'),
      requiredDevice: text('requiredDevice'),
      unboundMessages: text('unboundMessages'),
      maxFees: rows('maxFees', ROW_FIELDS.maxFees),
      tokens: rows('tokens', ROW_FIELDS.tokens),
      rejections: text('rejections'),
      excludedMembers: textsIn(kept, 'excludedMembers'),
      note: text('note'),
    };
  } catch (error) {
    if (error instanceof OtherForm) return null;
    throw error;
  }
}

class OtherForm extends Error {}

function textsIn(kept: object, name: string): readonly string[] {
  const list: unknown = Reflect.get(kept, name);
  if (!Array.isArray(list) || !list.every((one): one is string => typeof one === 'string')) throw new OtherForm();
  return list;
}

function textIn(kept: object, name: string): string {
  const value: unknown = Reflect.get(kept, name);
  if (typeof value !== 'string') throw new OtherForm();
  return value;
}

/** A token as it is typed. */
interface TokenRow {
  readonly chain: string;
  readonly tokenAddress: string;
  readonly symbol: string;
  readonly decimals: string;
}

/** The input has invalid rules, or changes nothing. The message is for the person. */
export class BadRule extends Error {
  /** The fields that cannot be read, with the pointers of the API. None when nothing changes. */
  readonly faults: readonly FieldFault[];

  constructor(message: string, faults: readonly FieldFault[] = []) {
    super(message);
    this.faults = faults;
  }
}

/**
 * Returns the assets that a rule can name: native assets, the tokens of the policy, and listed
 * tokens that the vault holds. An unlisted token is offered only where a rule names it already, in
 * its smallest unit: its symbol and decimals are claims of its contract. To limit one, adopt it.
 */
export function assetChoices(
  policy: RulesOfPolicy,
  balances: readonly Holding[],
  tokens: readonly TokenRow[] = rowsOf(policy.tokens),
): readonly AssetChoice[] {
  const held = balances
    .filter(({ tokenId, asset }) => tokenId === null && asset.trust !== 'unlisted')
    .toSorted(byTrust)
    .map(({ chain, asset }) => choiceOf({ chain, tokenAddress: asset.tokenAddress }, asset));
  const adopted = tokens.flatMap(({ chain, tokenAddress, symbol, decimals }) => {
    const asset = { tokenAddress, symbol, decimals: countIn(decimals), trust: 'policy', imitates: null } as const;
    return tokenAddress.trim() === '' || asset.decimals === null ? [] : [choiceOf({ chain, tokenAddress }, asset)];
  });
  const ruled = [...policy.limits, ...policy.higherThresholds].map((rule) => choiceOf(rule, null));
  // The first choice of a name stays, and the first ones have the most trusted decimals.
  const choices = new Map<string, AssetChoice>();
  for (const choice of [...adopted, ...held, ...ruled]) {
    if (!choices.has(choice.name)) choices.set(choice.name, choice);
  }
  return [...choices.values()];
}

function rowsOf(tokens: RulesOfPolicy['tokens']): readonly TokenRow[] {
  return (tokens ?? []).map(({ decimals, ...token }) => ({ ...token, decimals: String(decimals) }));
}

function choiceOf({ chain, tokenAddress }: AssetPosition, asset: Asset | null): AssetChoice {
  const unknown = { tokenAddress, symbol: null, decimals: null, imitates: null } as const;
  const named = asset ?? { ...unknown, trust: tokenAddress === null ? 'native' : 'unlisted' };
  return {
    chain,
    tokenAddress,
    name: nameOf({ chain, tokenAddress }),
    text: choiceName(named, chain),
    decimals: asset?.decimals ?? null,
  };
}

/** Returns a number of decimals; null for another text. */
function countIn(text: string): number | null {
  return /^[0-9]{1,2}$/.test(text.trim()) ? Number.parseInt(text, 10) : null;
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
    signOnce: policy.signOnce ?? '',
    limitsIncludeFees: policy.limitsIncludeFees === null ? '' : String(policy.limitsIncludeFees),
    requiredDevice: policy.requiredDevice ?? '',
    unboundMessages: policy.unboundMessages ?? '',
    maxFees: (policy.maxFees ?? []).map(({ chain, amount }) => ({
      chain,
      amount: shown({ chain, tokenAddress: null }, amount),
    })),
    tokens: rowsOf(policy.tokens),
    rejections: policy.rejections === null ? '' : String(policy.rejections),
    excludedMembers: policy.excludedMembers ?? [],
    note: '',
  };
}

/**
 * Returns the changed fields. Throws `BadRule` with every field that cannot be read, and for a
 * draft without a change.
 */
export function patchOf(draft: RulesDraft, policy: RulesOfPolicy, assets: readonly AssetChoice[]) {
  const faults: FieldFault[] = [];
  const read = readersOf(assets, faults);
  const rules: RulesOfPolicy = {
    signers: draft.signers,
    threshold: read.count(draft.threshold, '/threshold'),
    approvalMode: draft.approvalMode,
    recipients: draft.recipients,
    addressBook: draft.addressBook.map(({ chain, address, name }) => ({
      chain,
      address: address.trim(),
      name: name.trim(),
    })),
    limits: draft.limits.map(({ asset, perTransaction, perDay }, i) => ({
      ...read.asset(asset, `/limits/${i}/tokenAddress`),
      perTransaction: perTransaction === '' ? null : read.amount(perTransaction, asset, `/limits/${i}/perTransaction`),
      perDay: perDay === '' ? null : read.amount(perDay, asset, `/limits/${i}/perDay`),
    })),
    higherThresholds: draft.higherThresholds.map(({ asset, above, threshold }, i) => ({
      ...read.asset(asset, `/higherThresholds/${i}/tokenAddress`),
      above: read.amount(above, asset, `/higherThresholds/${i}/above`),
      threshold: read.count(threshold, `/higherThresholds/${i}/threshold`),
    })),
    unreadableThreshold:
      draft.unreadableThreshold.trim() === '' ? null : read.count(draft.unreadableThreshold, '/unreadableThreshold'),
    signOnce: choiceIn(draft.signOnce, ['every-cosigner', 'quorum']),
    limitsIncludeFees: draft.limitsIncludeFees === '' ? null : draft.limitsIncludeFees === 'true',
    requiredDevice: choiceIn(draft.requiredDevice, ['any', 'ed25519']),
    unboundMessages: choiceIn(draft.unboundMessages, ['allow', 'refuse']),
    maxFees: draft.maxFees.map(({ chain, amount }, i) => ({
      chain,
      amount: read.amount(amount, nameOf({ chain, tokenAddress: null }), `/maxFees/${i}/amount`),
    })),
    tokens: draft.tokens.map(({ chain, tokenAddress, symbol, decimals }, i) => ({
      chain,
      tokenAddress: tokenAddress.trim(),
      symbol: symbol.trim(),
      decimals: read.decimals(decimals, `/tokens/${i}/decimals`),
    })),
    rejections: draft.rejections.trim() === '' ? 1 : read.count(draft.rejections, '/rejections'),
    excludedMembers: draft.excludedMembers,
  };
  if (faults.length > 0) throw new BadRule(faults.map(faultText).join(' '), faults);
  // An absent rule means the same as its default.
  const { maxFees, tokens, rejections, excludedMembers } = policy;
  const before = {
    ...policy,
    maxFees: maxFees ?? [],
    tokens: tokens ?? [],
    rejections: rejections ?? 1,
    excludedMembers: excludedMembers ?? [],
  };
  const isSame = (name: keyof RulesOfPolicy) =>
    JSON.stringify(inOrder(rules[name])) === JSON.stringify(inOrder(before[name]));
  const changed = (Object.keys(rules) as (keyof RulesOfPolicy)[]).filter((name) => !isSame(name));
  if (changed.length === 0) throw new BadRule('No changes.');
  const patch: Partial<Patch> = Object.fromEntries(changed.map((name) => [name, rules[name]]));
  const note = draft.note.trim();
  return { ...mutable(patch), note: note === '' ? null : note };
}

/** A patch leaves an absent rule absent, and never makes a rule absent. */
type Patch =
  Omit<RulesOfPolicy, 'unreadableThreshold'> extends infer Rules
    ? { readonly [Name in keyof Rules]: NonNullable<Rules[Name]> } & Pick<RulesOfPolicy, 'unreadableThreshold'>
    : never;

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

function choiceIn<T extends string>(text: string, choices: readonly T[]): T | null {
  return choices.find((choice) => choice === text) ?? null;
}

/** Returns readers of typed texts. Each adds a fault for a text that it cannot read. */
function readersOf(assets: readonly AssetChoice[], faults: FieldFault[]) {
  /** What is returned in the position of an unreadable text is never used: the draft is refused. */
  const read = <T>(value: T | null, instead: T, fault: Omit<FieldFault, 'code'>): T => {
    if (value === null) faults.push({ ...fault, code: 'invalid' });
    return value ?? instead;
  };
  const choiceOfName = (asset: string) => assets.find(({ name }) => name === asset) ?? null;
  return {
    asset: (asset: string, pointer: string): AssetPosition => {
      const instead: AssetPosition = { chain: '', tokenAddress: null };
      const position = read<AssetPosition>(choiceOfName(asset), instead, {
        pointer,
        detail: 'Choose an asset for the amount.',
      });
      return { chain: position.chain, tokenAddress: position.tokenAddress };
    },
    amount: (text: string, asset: string, pointer: string): string => {
      const decimals = choiceOfName(asset)?.decimals ?? 0;
      return read(parseUnits(text, decimals), '0', { pointer, detail: amountHint(decimals) });
    },
    count: (text: string, pointer: string): number =>
      read(approvalsIn(text), 1, { pointer, detail: 'Enter a number from 1 to 99.' }),
    decimals: (text: string, pointer: string): number =>
      read(countIn(text), 0, { pointer, detail: 'Enter a number from 0 to 77.' }),
  };
}

/** Parses a number of approvals. It never parses an amount. */
function approvalsIn(text: string): number | null {
  return /^[1-9][0-9]?$/.test(text.trim()) ? Number.parseInt(text, 10) : null;
}
