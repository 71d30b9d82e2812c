import { equalBytes } from '@noble/curves/utils.js';
import type { BitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import type { RawTransaction } from '#chains/bitcoin/rules/raw-transaction.ts';
import { readRaw } from '#chains/bitcoin/rules/raw-transaction.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';

/**
 * Reports whether the amounts of a payload's UTXOs are proven. A BIP-341 signature covers the
 * amount of every UTXO, so a signature over a wrong amount is invalid. A BIP-143 signature covers
 * only the amount of its own UTXO: two sessions with two false amounts would produce two signatures
 * that fit together, and the difference would go to the miner. So each UTXO comes with the whole
 * transaction that made it, whose hash is its name.
 *
 * @param previous transactions without their witnesses, in hex
 */
export function needsAmountProof({ payment, terms }: BitcoinPayload, previous: readonly string[]): boolean {
  if (scriptTypeOf(payment.own)?.type === 'p2tr') return true;
  const shown = new Map(previous.flatMap((raw) => madeBy(raw) ?? []));
  return terms.utxos.every(({ txid, vout, amount }) => {
    const output = shown.get(txid)?.[vout];
    return output !== undefined && output.amount === amount && equalBytes(output.script, payment.own);
  });
}

/**
 * Returns the name of a transaction and its outputs; null for bytes that are not its one encoding.
 */
function madeBy(raw: string): readonly [readonly [string, RawTransaction['outputs']]] | null {
  const read = readRaw(raw);
  return read === null || read.stripped !== raw ? null : [[read.name, read.outputs]];
}
