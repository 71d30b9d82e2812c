import { hexToBytes } from '@noble/hashes/utils.js';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/proven-transaction.ts';
import { utxosIn, ownScriptIn } from '#chains/bitcoin/rules/transaction.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

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
