import { canonicalAddress } from '#chains/evm/address.ts';
import { chainIdOf } from '#chains/evm/chain-id.ts';
import { parseAmount } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';

type Reader = (value: unknown) => boolean;

const isName: Reader = (value) => isText(value, /^[a-z][a-z0-9-]{0,31}$/);
const isWholeNumber =
  (least: number, most: number): Reader =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

const MOST_TOKENS = 500;

/** Exactly as the chain spells it: what is compared with it comes from the chain. */
function isListedToken(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { address, symbol, decimals, isCash, ...rest } = value as Partial<Record<string, unknown>>;
  if (Object.keys(rest).length > 0 || typeof isCash !== 'boolean' || typeof address !== 'string') return false;
  return canonicalAddress(address) === address && isText(symbol, /^[!-~]{1,32}$/) && isWholeNumber(0, 77)(decimals);
}

/** One reader for each field of a row. What has no reader is refused. */
const FIELDS: Record<keyof Chain, Reader> = {
  name: isName,
  caip2: (value) => typeof value === 'string' && chainIdOf(value) !== null,
  family: (value) => value === 'evm',
  chainId: (value) => typeof value === 'string' && chainIdOf(`eip155:${value}`) !== null,
  nativeSymbol: (value) => isText(value, /^[A-Za-z0-9.]{1,16}$/),
  nativeDecimals: isWholeNumber(0, 36),
  confirmations: isWholeNumber(1, 10_000),
  pollIntervalMs: isWholeNumber(50, 3_600_000),
  maxFee: (value) => typeof value === 'string' && parseAmount(value) !== null,
  tokens: (value) => Array.isArray(value) && value.length <= MOST_TOKENS && value.every(isListedToken),
  explorer: (value) => value === null || isText(value, /^https?:\/\/[^\s"'<>]+\{hash\}[^\s"'<>]*$/),
};

/**
 * Reads one row of the CHAINS setting. With the name of a chain that is known, only what differs need stand in it; the identity
 * of that chain (`caip2`, `family`, `chainId`) cannot change, because signed bytes and recorded transactions hang on it.
 *
 * Throws, because a service with a wrong chain table must not start: names the row and the field, in the order above.
 */
export function parseChainRow(row: unknown, known: readonly Chain[]): Chain {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) throw new Error('CHAINS: each row is an object');
  const fields = new Map<string, unknown>(Object.entries(row));
  const name = fields.get('name');
  const before = known.find((chain) => chain.name === name);
  for (const [field, value] of fields) {
    const reader = Object.entries(FIELDS).find(([key]) => key === field)?.[1];
    if (reader === undefined) throw new Error(`CHAINS: ${String(name)} has an unknown field '${field}'`);
    if (!reader(value)) throw new Error(`CHAINS: ${String(name)} has a wrong '${field}'`);
  }
  const merged = { tokens: [], ...before, ...row };
  if (!isChain(merged)) throw new Error(`CHAINS: ${String(name)} lacks one of ${Object.keys(FIELDS).join(', ')}`);
  if (merged.caip2 !== `eip155:${merged.chainId}`)
    throw new Error(`CHAINS: ${merged.name} has a caip2 of another chain`);
  if (before !== undefined && before.caip2 !== merged.caip2) {
    throw new Error(`CHAINS: ${merged.name} is ${before.caip2}; another chain needs another name`);
  }
  return merged;
}

function isChain(value: object): value is Chain {
  return Object.keys(FIELDS).every((field) => Object.hasOwn(value, field));
}

function isText(value: unknown, shape: RegExp): boolean {
  return typeof value === 'string' && shape.test(value);
}
