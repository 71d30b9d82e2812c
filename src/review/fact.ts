import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { readableAmount, unitsOf } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { VaultId } from '#domain/id.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { policyToken } from '#domain/policy/optional-rules.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
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

/** Returns the chain of this build with a name; null for a name that an operator gave. */
export function chainNamed(name: string): Chain | null {
  return BUILT_IN_CHAINS.find((chain) => chain.name === name) ?? null;
}

export function chainText(caip2: string): string {
  const chain = knownChain(caip2);
  return chain === null ? `${visibleText(caip2)} (unknown chain)` : `${chain.name} (${caip2})`;
}

/** The name and the decimals of a token, from this build or from the policy of the reader. */
export interface NamedToken {
  readonly symbol: string;
  readonly decimals: number;
  /** `listed`: by this build, whose hash is published. `policy`: the quorum adopted it. */
  readonly source: 'listed' | 'policy';
}

/**
 * Returns the token that this build lists or that the policy names; null for any other token. The
 * list of this build precedes, because no quorum can be deceived about it. The lists of the
 * coordinator do not count.
 */
export function namedToken(caip2: string, tokenAddress: string, rules: OptionalRules): NamedToken | null {
  const chain = knownChain(caip2);
  const listed = chain === null ? null : listedToken(chain, tokenAddress);
  if (listed !== null) return { symbol: listed.symbol, decimals: listed.decimals, source: 'listed' };
  const adopted = policyToken(rules, caip2, tokenAddress);
  if (adopted === null) return null;
  return { symbol: visibleText(adopted.symbol), decimals: adopted.decimals, source: 'policy' };
}

/** Returns an amount of a chain's native asset, in smallest units where this build has no chain. */
export function nativeText(amount: Amount, caip2: string): string {
  const chain = knownChain(caip2);
  if (chain === null) return `${readableAmount(unitsOf(amount), 0)} raw units of the native asset`;
  return `${readableAmount(unitsOf(amount), chain.nativeDecimals)} ${chain.nativeSymbol}`;
}

/**
 * Returns an amount with decimals where this build or the policy names the asset. Otherwise it
 * returns smallest units and says so.
 */
export function amountText(amount: Amount, { chain, tokenAddress }: AssetRef, rules: OptionalRules): string {
  if (tokenAddress === null) return nativeText(amount, chain);
  const token = namedToken(chain, tokenAddress, rules);
  if (token === null) return `${readableAmount(unitsOf(amount), 0)} raw units of an unknown token`;
  return `${readableAmount(unitsOf(amount), token.decimals)} ${token.symbol}`;
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
