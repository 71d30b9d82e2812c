import { BUILT_IN_CHAINS } from '#chains/built-in-chains.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { VaultId } from '#domain/id.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { visibleText } from '#domain/visible-text.ts';

/** One line that a signer reads, on the approval page or in a terminal. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** An address, shown whole. */
  readonly address?: string;
  /** Bytes or text, shown in full. */
  readonly raw?: string;
}

/** Returns the facts that every signed document has: its note, its times and its vault. */
export function frameFacts(
  { note, createdAtMs, expiresAtMs }: Pick<Intent, 'note' | 'createdAtMs' | 'expiresAtMs'>,
  vaultId: VaultId,
): readonly Fact[] {
  return [
    { label: 'Note', text: note === null ? 'None' : visibleText(note) },
    { label: 'Expires', text: timeText(expiresAtMs) },
    { label: 'Created', text: timeText(createdAtMs) },
    { label: 'Vault', text: String(vaultId) },
  ];
}

/**
 * Returns the chain when this build knows it, otherwise null. Assets of an unknown chain are shown
 * in smallest units.
 */
export function knownChain(caip2: string): Chain | null {
  return BUILT_IN_CHAINS.find((chain) => chain.caip2 === caip2) ?? null;
}

export function chainText(caip2: string): string {
  const chain = knownChain(caip2);
  return chain === null ? `${visibleText(caip2)} (unknown chain)` : `${chain.name} (${caip2})`;
}

/**
 * Returns an amount with decimals where this build knows the asset. Otherwise it returns smallest
 * units and says so.
 */
export function amountText(amount: Amount, caip2: string, tokenAddress: string | null): string {
  const chain = knownChain(caip2);
  if (tokenAddress === null) {
    if (chain === null) return `${amount} raw units of the native asset`;
    return `${decimalOf(amount, chain.nativeDecimals)} ${chain.nativeSymbol}`;
  }
  const token = chain === null ? null : listedToken(chain, tokenAddress);
  if (token === null) return `${grouped(amount)} raw units of an unknown token`;
  return `${decimalOf(amount, token.decimals)} ${token.symbol}`;
}

/** Returns `1,234.5` for `1234500` with 3 decimals, without rounding. */
function decimalOf(amount: Amount, decimals: number): string {
  const digits = unitsOf(amount)
    .toString()
    .padStart(decimals + 1, '0');
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${grouped(digits.slice(0, digits.length - decimals))}${part === '' ? '' : `.${part}`}`;
}

function grouped(digits: string): string {
  return digits.replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** ECMAScript has no later time. */
const MAX_TIME_MS = 8.64e15;

/**
 * Returns the time in RFC 3339, in UTC, so that people in different time zones read the same text.
 */
export function timeText(ms: number): string {
  if (ms > MAX_TIME_MS) return 'after the year 275760';
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
