import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { evmRules } from '#chains/evm/rules/chain-rules.ts';
import { solanaRules } from '#chains/solana/rules/chain-rules.ts';
import type { Chain, ChainFamily } from '#domain/asset/chain.ts';

const RULES: Readonly<Record<ChainFamily, (chain: Chain) => ChainRules>> = {
  evm: evmRules,
  solana: solanaRules,
  bitcoin: bitcoinRules,
};

/**
 * Requests share the chains of `chainsFrom`. A job has a copy of its chain, in the answer of its
 * vault, so the entries are weak.
 */
const rulesByChain = new WeakMap<Chain, ChainRules>();

/** Returns the rules of a chain. They are built once for each chain object. */
export function rulesFor(chain: Chain): ChainRules {
  const rules = rulesByChain.get(chain) ?? RULES[chain.family](chain);
  rulesByChain.set(chain, rules);
  return rules;
}
