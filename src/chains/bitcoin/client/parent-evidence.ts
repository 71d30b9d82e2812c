import { equalBytes } from '@noble/curves/utils.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { BitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import type { RawTransaction } from '#chains/bitcoin/client/raw-transaction.ts';
import { getProvenTransaction, readRaw } from '#chains/bitcoin/client/raw-transaction.ts';
import { utxosIn, ownScriptIn } from '#chains/bitcoin/rules/transaction.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

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

/** Reports whether the UTXOs of a stored payload belong to an ECDSA key. */
export function paysByHash(payload: string): boolean {
  return scriptTypeOf(ownScriptIn(hexToBytes(payload.slice(2))))?.type === 'p2wpkh';
}

/** Returns the evidence that `needsAmountProof` requires for a stored payload. */
export async function readEvidence(node: RpcNode, payload: string): Promise<Result<readonly string[], NodeProblem>> {
  const names = new Set(utxosIn(hexToBytes(payload.slice(2))).map(({ txid }) => txid));
  const previous: string[] = [];
  for (const name of names) {
    const proven = await getProvenTransaction(node, name);
    if (!proven.ok) return proven;
    if (proven.value === null) return unusable('The RPC node does not have the transaction of a UTXO.');
    previous.push(proven.value.stripped);
  }
  return accepted(previous);
}
