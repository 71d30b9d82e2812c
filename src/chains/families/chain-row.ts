import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { clusterOf } from '#chains/solana/rules/cluster.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { Chain, ChainFamily, ListedToken } from '#domain/asset/chain.ts';
import { DATA_FEE_KINDS, GAS_ESTIMATE_KINDS } from '#domain/asset/chain.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

type Reader = (value: unknown) => boolean;

const isName: Reader = (value) => isText(value, /^[a-z][a-z0-9-]{0,31}$/);
const isWholeNumber =
  (least: number, most: number): Reader =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

const MAX_TOKENS = 500;

function isListedToken(value: unknown): value is ListedToken {
  if (!isJsonObject(value)) return false;
  const { address, symbol, decimals, isCash, ...rest } = value;
  if (Object.keys(rest).length > 0 || typeof isCash !== 'boolean' || typeof address !== 'string') return false;
  return isText(symbol, /^[!-~]{1,32}$/) && isWholeNumber(0, 77)(decimals);
}

/** Whole satoshi per virtual byte. */
const isFeeRate: Reader = (value) => isText(value, /^[1-9][0-9]{0,5}$/);

/** One reader for each field of a row. A field without a reader is refused. */
const FIELDS: Required<Record<keyof Chain, Reader>> = {
  maxFeeRate: isFeeRate,
  fallbackFeeRate: isFeeRate,
  name: isName,
  caip2: (value) => typeof value === 'string' && familyOf(value) !== null,
  family: (value) => value === 'evm' || value === 'solana' || value === 'bitcoin',
  nativeSymbol: (value) => isText(value, /^[A-Za-z0-9.]{1,16}$/),
  nativeDecimals: isWholeNumber(0, 36),
  confirmations: isWholeNumber(1, 10_000),
  pollIntervalMs: isWholeNumber(50, 3_600_000),
  maxFee: (value) => typeof value === 'string' && parseAmount(value) !== null,
  tokens: (value) => Array.isArray(value) && value.length <= MAX_TOKENS && value.every(isListedToken),
  explorer: (value) => value === null || isText(value, /^https?:\/\/[^\s"'<>]+\{hash\}[^\s"'<>]*$/),
  minTip: (value) => typeof value === 'string' && parseAmount(value) !== null,
  finalDepth: isWholeNumber(1, 100_000),
  dataFee: (value) => DATA_FEE_KINDS.some((kind) => kind === value),
  gasEstimate: (value) => GAS_ESTIMATE_KINDS.some((kind) => kind === value),
};

/** A row may omit these fields, and only a row of an EVM chain may have them. */
const EVM_FIELDS = ['minTip', 'finalDepth', 'dataFee', 'gasEstimate'] as const;
const OPTIONAL: ReadonlySet<string> = new Set<keyof Chain>([...EVM_FIELDS, 'maxFeeRate', 'fallbackFeeRate']);
const REQUIRED = Object.keys(FIELDS).filter((field) => !OPTIONAL.has(field));

/**
 * Returns the chain of one row of the CHAINS setting. A row with the name of a known chain needs
 * only the fields that differ. The identity of that chain (`caip2`, `family`) cannot change,
 * because signed bytes and recorded transactions depend on it.
 *
 * Throws, because a service with a wrong chain table must not start. The error names the row and
 * the field, in the order above.
 */
export function parseChainRow(row: unknown, known: readonly Chain[]): Chain {
  if (!isJsonObject(row)) throw new Error('CHAINS: Each row must be an object.');
  const fields = new Map<string, unknown>(Object.entries(row));
  const name = fields.get('name');
  const before = known.find((chain) => chain.name === name);
  for (const [field, value] of fields) {
    const reader = Object.entries(FIELDS).find(([key]) => key === field)?.[1];
    if (reader === undefined) throw new Error(`CHAINS: ${String(name)} has an unknown field '${field}'.`);
    if (!reader(value)) throw new Error(`CHAINS: ${String(name)} has an invalid '${field}'.`);
  }
  const merged = { tokens: [], ...before, ...row };
  if (!isChain(merged)) throw new Error(`CHAINS: ${String(name)} must have the fields ${REQUIRED.join(', ')}.`);
  if (familyOf(merged.caip2) !== merged.family) {
    throw new Error(`CHAINS: The caip2 of ${merged.name} belongs to another family.`);
  }
  const foreign = merged.family === 'evm' ? undefined : EVM_FIELDS.find((field) => merged[field] !== undefined);
  if (foreign !== undefined)
    throw new Error(`CHAINS: ${merged.name} must not have '${foreign}', which is for EVM chains only.`);
  // Otherwise a final transaction would not even be confirmed.
  if (merged.finalDepth !== undefined && merged.finalDepth < merged.confirmations) {
    throw new Error(`CHAINS: The 'finalDepth' of ${merged.name} is below its 'confirmations'.`);
  }
  const spelled = merged.tokens.every(({ address }) => SPELLED[merged.family](address));
  if (!spelled) throw new Error(`CHAINS: ${merged.name} has an invalid 'tokens'.`);
  if (before !== undefined && before.caip2 !== merged.caip2) {
    throw new Error(`CHAINS: ${merged.name} is ${before.caip2}. Use another name for another chain.`);
  }
  return merged;
}

/** The spelling must match the chain's exactly, because the compared values come from the chain. */
const SPELLED: Readonly<Record<ChainFamily, (address: string) => boolean>> = {
  evm: (address) => canonicalAddress(address) === address,
  solana: isPublicKey,
  // Bitcoin has no tokens.
  bitcoin: () => false,
};

/**
 * Returns the family of a CAIP-2 id's namespace; null for text that is not one in its one spelling.
 */
function familyOf(caip2: string): ChainFamily | null {
  if (chainIdOf(caip2) !== null) return 'evm';
  if (clusterOf(caip2) !== null) return 'solana';
  return networkOf(caip2) === null ? null : 'bitcoin';
}

function isChain(value: object): value is Chain {
  return REQUIRED.every((field) => Object.hasOwn(value, field));
}

function isText(value: unknown, shape: RegExp): boolean {
  return typeof value === 'string' && shape.test(value);
}
