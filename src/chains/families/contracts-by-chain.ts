import { findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** Returns the contracts of the price sources, by the rules of each chain of this service. */
export function contractsByChain(
  chains: readonly Chain[],
): (caip2: string) => ((text: string) => string | null) | null {
  return (caip2) => {
    const chain = findChain(chains, caip2);
    if (chain === null) return null;
    return (text) => {
      const parsed = rulesFor(chain).parseToken(text);
      return parsed.ok ? parsed.value : null;
    };
  };
}
