import type { Fact } from '#review/fact.ts';
import { amountText, chainText, frameFacts, knownChain, namedToken, nativeText, timeText } from '#review/fact.ts';
import { allowanceText, callPermission, permitFacts, UNLIMITED } from '#review/permission-facts.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { arrayOf, DOMAIN, integerOf, readTypedDataText, typedDataText } from '#chains/evm/rules/typed-data.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import { parseAmount, unitsOf } from '#domain/asset/amount.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  Intent,
  MessageExtras,
  MessageIntent,
  OnChainIntent,
} from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { nameOf } from '#domain/policy/rules.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import { findLookalike, shapeOf } from '#domain/activity/lookalike.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import { visibleText } from '#domain/visible-text.ts';

/** What an approval does, in words, and every field that the approval binds. */
export interface Description {
  readonly title: string;
  readonly facts: readonly Fact[];
  /**
   * The facts on which a decision depends, such as recipient, amount and fee. They are shown a
   * second time with the warnings, directly beside the button or above the question.
   */
  readonly essentials: readonly Fact[];
  readonly warnings: readonly string[];
}

/** Describes an intent in words. The policy in force gives the names of its address book. */
export function describeIntent(intent: Intent, policy: Policy): Description {
  const chain: Fact = { label: 'Chain', text: chainText(intent.chain) };
  const effect = [...actionFacts(intent, policy), ...(intent.kind === 'message' ? [] : boundFacts(intent))];
  const inspected = warningsOf(intent, knownChain(intent.chain)?.tokens ?? []);
  return {
    title: titleOf(intent, policy),
    essentials: [chain, ...shortened(effect)],
    facts: [
      chain,
      { label: 'From', text: 'Vault wallet', address: intent.from },
      ...effect,
      ...frameFacts(intent, intent.vaultId),
      { label: 'Transaction', text: intent.transactionId },
      { label: 'Policy', text: `version ${intent.policyVersion}, hash ${intent.policyHash}` },
    ],
    warnings: [...inspected.map(({ detail }) => visibleText(detail)), ...ownWarnings(intent, policy)],
  };
}

function titleOf(intent: Intent, { rules }: Policy): string {
  const { chain } = intent;
  switch (intent.kind) {
    case 'transfer':
      return `Send ${amountText(intent.amount, intent, rules)} to ${payeeText(chain, intent.to, rules)}`;
    case 'contract-interaction':
      return intent.value === '0' ? 'Call a contract' : `Call a contract and send ${nativeText(intent.value, chain)}`;
    case 'erc20-approve':
      return intent.amount === '0'
        ? 'Revoke an allowance'
        : `Set an allowance of ${allowanceText(intent.amount, intent, rules)}`;
    case 'message':
      return 'Sign a message';
    default:
      return unreachable(intent);
  }
}

/** Returns a payee for a sentence. The facts have the whole address. */
function payeeText(chain: string, address: string, rules: Policy['rules']): string {
  const name = nameOf(rules, chain, address);
  return name === null ? 'an address that is not in the address book' : `“${visibleText(name)}”`;
}

/** Ours: longer content is shown once, among the facts, and is named here by its length. */
const MAX_ESSENTIAL_LENGTH = 280;

/** Returns the short facts, and after them the length of each long one. */
function shortened(facts: readonly Fact[]): readonly Fact[] {
  const isShort = ({ raw = '' }: Fact) => raw.length <= MAX_ESSENTIAL_LENGTH;
  const long = facts.filter((fact) => !isShort(fact));
  return [
    ...facts.filter(isShort),
    ...long.map(({ label, raw = '' }) => ({ label, text: `${raw.length} characters, shown above` })),
  ];
}

function actionFacts(intent: Intent, policy: Policy): readonly Fact[] {
  const { chain } = intent;
  switch (intent.kind) {
    case 'transfer':
      return [
        named('To', intent.to, { chain, policy }),
        { label: 'Amount', text: amountText(intent.amount, intent, policy.rules) },
        ...tokenFacts(intent, policy.rules),
        ...(intent.paysFor === undefined
          ? []
          : [{ label: 'Pays for', text: 'An unconfirmed transaction (CPFP)', raw: intent.paysFor }]),
        ...(intent.memo === undefined
          ? []
          : [{ label: 'Memo', text: 'Written to the chain', raw: visibleText(intent.memo) }]),
        ...(intent.recipientMayHaveNoKey === undefined
          ? []
          : [{ label: 'Recipient key', text: 'None. The address belongs to a program.' }]),
        ...(intent.recipientIsToken === undefined
          ? []
          : [{ label: 'Recipient is the token', text: 'Acknowledged by the creator' }]),
        ...(intent.maxTokenFee === undefined
          ? []
          : [{ label: 'Token fee', text: `At most ${amountText(intent.maxTokenFee, intent, policy.rules)}` }]),
      ];
    case 'contract-interaction':
      return [
        named('Contract', intent.to, { chain, policy }),
        { label: 'Value', text: nativeText(intent.value, chain) },
        ...callPermission(intent, policy.rules),
        ...callFacts(intent, policy.rules),
      ];
    case 'erc20-approve':
      return [
        named('Spender', intent.spender, { chain, policy }),
        allowanceFact(intent, policy.rules),
        ...tokenFacts(intent, policy.rules),
      ];
    case 'message':
      return [...messageFacts(intent, policy.rules), ...messageExtraFacts(intent)];
    default:
      return unreachable(intent);
  }
}

function boundFacts(intent: OnChainIntent): readonly Fact[] {
  const { maxFee, chain, notAfterMs, lookalikeOf } = intent;
  return [
    { label: 'Maximum fee', text: nativeText(maxFee, chain) },
    ...(notAfterMs === undefined ? [] : [{ label: 'Not after', text: timeText(notAfterMs) }]),
    ...(lookalikeOf === null ? [] : [{ label: 'Similar to', text: 'Known address', address: lookalikeOf }]),
  ];
}

/** Returns the contract of a token, and who gave the token its name. */
function tokenFacts({ chain, tokenAddress }: AssetRef, rules: OptionalRules): readonly Fact[] {
  if (tokenAddress === null) return [];
  const token = namedToken(chain, tokenAddress, rules);
  const text = token === null ? 'Unknown token' : `${token.symbol}, ${SOURCES[token.source]}`;
  return [{ label: 'Token', text, address: tokenAddress }];
}

const SOURCES = { listed: 'built-in list', policy: 'named by the policy' } as const;

/** Returns the allowance. The digits of an unlimited one are shown too, because they are signed. */
function allowanceFact({ amount, ...asset }: Erc20ApproveIntent, rules: OptionalRules): Fact {
  const text = allowanceText(amount, asset, rules);
  return { label: 'Allowance', text, ...(unitsOf(amount) > UNLIMITED ? { raw: amount } : {}) };
}

function named(label: string, address: string, context: { readonly chain: string; readonly policy: Policy }): Fact {
  const name = nameOf(context.policy.rules, context.chain, address);
  const text = name === null ? 'Not in the address book' : `“${visibleText(name)}” in the address book`;
  return { label, text, address };
}

function callFacts({ chain, to, data }: ContractInteractionIntent, rules: OptionalRules): readonly Fact[] {
  if (data === '0x') return [{ label: 'Call', text: 'None (plain payment)' }];
  const call = decodeCall(data);
  const raw: Fact = { label: 'Data', text: 'Bytes of the call', raw: data };
  if (call === null) return [{ label: 'Call', text: 'Not part of a known standard. The effect is unknown.' }, raw];
  const asset = { chain, tokenAddress: to };
  const amounts = namedToken(chain, to, rules) === null ? [] : (AMOUNTS_OF_TOKEN[call.standard] ?? []);
  return [
    { label: 'Call', text: `${call.function} (${call.standard})` },
    ...call.arguments.map(({ name, type, value }): Fact => {
      const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
      const label = `Argument ${name}`;
      if (type === 'address') return { label, text: type, address: shown };
      const amount = amounts.includes(name) ? parseAmount(shown) : null;
      const text = amount === null ? type : `${type}, ${allowanceText(amount, asset, rules)}`;
      return { label, text, raw: visibleText(shown) };
    }),
    raw,
  ];
}

/** The arguments of each standard that are amounts of the token that is called. */
const AMOUNTS_OF_TOKEN: Readonly<Record<string, readonly string[]>> = {
  'ERC-20': ['amount', 'addedAmount', 'subtractedAmount'],
  'ERC-2612': ['amount'],
  WETH9: ['amount'],
};

const FORMATS = {
  eip191: 'Text (EIP-191), valid on every EVM chain',
  eip712: 'Typed data (EIP-712)',
  'solana-offchain': 'Solana off-chain message',
  bip322: 'Text (BIP-322)',
  'eip191-hex': 'Bytes (EIP-191), valid on every EVM chain',
} as const;

function messageFacts(intent: MessageIntent, rules: Policy['rules']): readonly Fact[] {
  const { format, message } = intent;
  const kind: Fact = { label: 'Message', text: FORMATS[format] };
  if (format === 'eip191-hex') return [kind, ...bytesFacts(message)];
  if (format !== 'eip712') return [kind, { label: 'Text', text: '', raw: visibleText(message, { linesStay: true }) }];
  const read = typedDataIn(message);
  if (read === null) throw new InvalidDocument('The message is not typed data that can be shown.');
  const { types, primaryType, domain, message: content } = read;
  return [
    kind,
    ...permitFacts(read, intent, rules),
    { label: 'Type', text: visibleText(primaryType) },
    ...leavesOf(types, { path: 'domain', type: DOMAIN, value: domain }),
    ...leavesOf(types, { path: 'message', type: primaryType, value: content }),
  ];
}

/** Returns the bytes, and the text that they are where they are one. */
function bytesFacts(message: string): readonly Fact[] {
  const bytes = bytesOfHex(message);
  if (bytes === null) throw new InvalidDocument('The message is not bytes that can be shown.');
  const text = textIn(bytes);
  return [
    { label: 'Bytes', text: `${bytes.length} bytes`, raw: message },
    ...(text === null ? [] : [{ label: 'As text', text: '', raw: visibleText(text, { linesStay: true }) }]),
  ];
}

function bytesOfHex(hex: string): Uint8Array | null {
  if (!/^0x(?:[0-9a-f]{2})+$/.test(hex)) return null;
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

function textIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function messageExtraFacts({ foreignChainId, droppedKeys }: MessageExtras): readonly Fact[] {
  return [
    ...(foreignChainId === undefined
      ? []
      : [{ label: 'Signed for chain', text: chainText(`eip155:${foreignChainId}`) }]),
    ...(droppedKeys === undefined
      ? []
      : [{ label: 'Dropped keys', text: `${droppedKeys}, declared by no type and not signed` }]),
  ];
}

function typedDataIn(message: string): TypedData | null {
  const read = readTypedDataText(message);
  return read.ok && typedDataText(read.value) === message ? read.value : null;
}

/** Returns every value of nested data with its path. No value is left out or folded. */
function leavesOf(
  types: TypedData['types'],
  { path, type, value }: { readonly path: string; readonly type: string; readonly value: unknown },
): readonly Fact[] {
  const label = visibleText(path);
  if (Array.isArray(value)) {
    if (value.length === 0) return [{ label, text: 'Empty list' }];
    const element = arrayOf(type)?.element ?? '';
    return value.flatMap((item: unknown, i) => leavesOf(types, { path: `${path}[${i}]`, type: element, value: item }));
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value);
    // A domain without fields binds the signature to no application, chain or contract.
    if (entries.length === 0) return [{ label, text: 'Empty' }];
    const typeOf = (key: string) => types[type]?.find(({ name }) => name === key)?.type ?? '';
    return entries.flatMap(([key, item]) =>
      leavesOf(types, { path: `${path}.${key}`, type: typeOf(key), value: item }),
    );
  }
  const text = String(value);
  if (type === 'address') return [{ label, text: 'address', address: text }];
  return [{ label, text: decimalText(type, text), raw: visibleText(text, { linesStay: true }) }];
}

/** Returns an integer in decimal digits where the data has it in hex, otherwise no text. */
function decimalText(type: string, text: string): string {
  const isHexInteger = /^u?int[0-9]+$/.test(type) && text.startsWith('0x');
  const number = isHexInteger ? integerOf(type, text) : null;
  return number === null ? '' : `In decimal: ${number}`;
}

/**
 * Returns warnings that follow from the policy in force, or from facts that this page does not
 * have.
 */
function ownWarnings(intent: Intent, policy: Policy): readonly string[] {
  const book = policy.rules.addressBook.filter(({ chain }) => chain === intent.chain).map(({ address }) => address);
  const payees = intent.kind === 'message' ? [] : [intent.kind === 'erc20-approve' ? intent.spender : intent.to];
  const known = (shape: string) => book.filter((address) => shapeOf(address) === shape);
  const twin = findLookalike(payees, known, null);
  return [
    ...(twin === null ? [] : [`The address resembles ${twin.known} in the address book but is a different address.`]),
    ...(knownChain(intent.chain) === null ? ['This page does not know this chain. Amounts are in raw units.'] : []),
    ...(intent.policyVersion === policy.version
      ? []
      : [`Created under policy version ${intent.policyVersion}. Version ${policy.version} is in force.`]),
    ...(intent.kind === 'message' && intent.format === 'eip191'
      ? ['This signature names no chain. It is valid on every EVM chain.']
      : []),
    ...unknownTokens(intent, policy.rules),
  ];
}

function unknownTokens(intent: Intent, rules: OptionalRules): readonly string[] {
  if (intent.kind !== 'transfer' && intent.kind !== 'erc20-approve') return [];
  const { chain, tokenAddress } = intent;
  if (tokenAddress === null || namedToken(chain, tokenAddress, rules) !== null) return [];
  return ['Neither this page nor the policy knows this token. Compare the contract address.'];
}
