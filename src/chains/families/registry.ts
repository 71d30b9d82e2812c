import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { parseChainRow } from '#chains/families/chain-row.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { parseJsonSetting } from '#domain/json/json-setting.ts';

/**
 * The last parsed setting: an isolate has one setting and reads it several times in each request.
 */
let last: { readonly setting: string; readonly chains: readonly Chain[] } | null = null;

/**
 * Returns every chain of this deployment: the built-in ones and those of the CHAINS setting, a JSON
 * list whose rows change a known chain by its name or add one. Throws for any other setting, with
 * the row and the field.
 */
export function chainsFrom({ CHAINS: setting = '' }: { readonly CHAINS?: string }): readonly Chain[] {
  if (last?.setting !== setting) last = { setting, chains: readChains(setting) };
  return last.chains;
}

function readChains(setting: string): readonly Chain[] {
  const chains = new Map(BUILT_IN_CHAINS.map((chain) => [chain.name, chain]));
  for (const row of rowsOf(setting)) {
    const chain = parseChainRow(row, BUILT_IN_CHAINS);
    const twin = [...chains.values()].find((other) => other.caip2 === chain.caip2 && other.name !== chain.name);
    // One chain under two names would have two nonce allocators for one wallet.
    if (twin !== undefined) throw new Error(`CHAINS: ${chain.name} and ${twin.name} must not both be ${chain.caip2}.`);
    if (chains.get(chain.name) !== BUILT_IN_CHAINS.find((known) => known.name === chain.name)) {
      throw new Error(`CHAINS: ${chain.name} is listed more than once.`);
    }
    chains.set(chain.name, chain);
  }
  return [...chains.values()];
}

/** Returns the chain with this exact canonical name or CAIP-2; null when it does not exist. */
export function findChain(chains: readonly Chain[], nameOrCaip2: string): Chain | null {
  return chains.find((chain) => chain.name === nameOrCaip2 || chain.caip2 === nameOrCaip2) ?? null;
}

function rowsOf(text: string): readonly unknown[] {
  if (text.trim() === '') return [];
  const rows = parseJsonSetting('CHAINS', text);
  if (!Array.isArray(rows)) throw new Error('CHAINS must be a JSON list of chain rows.');
  return rows;
}
