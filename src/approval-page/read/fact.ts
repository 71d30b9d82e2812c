import { BUILT_IN_CHAINS } from '#chains/built-in-chains.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';

/** One line of what the page shows. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  /** Shown whole and in groups. */
  readonly address?: string;
  /** Bytes or a text as they stand, shown in full. */
  readonly raw?: string;
}

/** The chain as this page knows it, or null: its assets are shown in their smallest units then. */
export function knownChain(caip2: string): Chain | null {
  return BUILT_IN_CHAINS.find((chain) => chain.caip2 === caip2) ?? null;
}

export function chainText(caip2: string): string {
  const chain = knownChain(caip2);
  return chain === null ? `${visibleText(caip2)} (unknown chain)` : `${chain.name} (${caip2})`;
}

/** An amount with its decimals where the page itself knows them; else in raw units, and it says so. */
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

/** `1234500` of 3 decimals is `1,234.5`, exactly. */
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

/** UTC, so that two people in two places read the same. */
export function timeText(ms: number): string {
  const MAX_MS = 8.64e15;
  if (ms > MAX_MS) return 'after the year 275760';
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Controls, separators, direction marks and invisible letters: they hide text or turn it around on a screen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u115F\u1160\u3164\uFFA0]/gu;

/** Text of unknown authors with every letter to be seen. Line breaks stay where the text is shown in full. */
export function visibleText(text: string, { linesStay = false } = {}): string {
  return text.replaceAll(UNSEEN, (letter) =>
    linesStay && letter === '\n' ? letter : `⟨U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`,
  );
}
