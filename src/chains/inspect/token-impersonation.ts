import { skeletonOf } from '#chains/inspect/confusable.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** What a token reports of itself. */
export interface TokenTexts {
  readonly symbol: string | null;
  readonly name: string | null;
}

/**
 * Returns the listed token or native asset whose symbol an unlisted token uses as its symbol or
 * name; null without one.
 */
export function impersonatedToken(
  { symbol, name }: TokenTexts,
  chain: Pick<Chain, 'nativeSymbol'> & { readonly tokens: readonly { readonly symbol: string }[] },
): string | null {
  const real = [chain.nativeSymbol, ...chain.tokens.map((token) => token.symbol)];
  return impersonatedSymbol(symbol, real) ?? impersonatedSymbol(name, real);
}

/**
 * Returns the symbol that a text looks like; null without one. Look-alike letters are equal
 * (Unicode TS 39), and capitals, spaces and punctuation are ignored.
 */
export function impersonatedSymbol(text: string | null, symbols: readonly string[]): string | null {
  if (text === null) return null;
  const worn = skeletonOf(text);
  return symbols.find((symbol) => skeletonOf(symbol) === worn) ?? null;
}

const BAIT =
  /https?:|www\.|[a-z0-9-]+\s*\.\s*(?:com|org|net|io|app|xyz|fi|gg|me|info|top|site|finance|network|pro|live|club|vip|cc|co|us|in)\b|\bclaim|\bvisit|\bairdrop|\bredeem|\breward|\bvoucher|\bgiveaway/i;

/** Reports whether a name urges its reader to visit a site or claim something. */
export function hasPhishingText({ symbol, name }: TokenTexts): boolean {
  return [symbol, name].some((text) => text !== null && BAIT.test(text.normalize('NFKC')));
}
