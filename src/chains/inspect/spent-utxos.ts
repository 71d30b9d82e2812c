import { hexToBytes } from '@noble/hashes/utils.js';
import { rulesFor } from '#chains/families/rules-for.ts';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { Chain } from '#domain/asset/chain.ts';

/**
 * Returns the UTXOs that the bytes of attempts spend, by name; none on chains with accounts. Throws
 * for damaged bytes.
 */
export function spentUtxos(chain: Chain, attempts: readonly { readonly payload: string }[]): ReadonlySet<string> {
  if (rulesFor(chain).ordering.by !== 'utxos') return new Set();
  return new Set(attempts.flatMap(({ payload }) => utxosIn(hexToBytes(payload.slice(2))).map(outpointText)));
}
