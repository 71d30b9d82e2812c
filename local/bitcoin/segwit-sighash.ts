import { createHash } from 'node:crypto';
import type { Decoded, TxOut } from './transaction.ts';
import { reversed, uint32, uint64, withLength } from './taproot-sighash.ts';

/**
 * Returns the message of a P2WPKH signature (BIP-143, hash type ALL), hashed once: ECDSA over its
 * SHA-256 then covers the double hash that the standard requires. It is written from the standard
 * and not with the library that makes our transactions.
 */
export function segwitSighashHalf(transaction: Decoded, index: number, utxo: TxOut): Uint8Array {
  const { version, lockTime, inputs, outputs } = transaction;
  const outpoints = inputs.map(({ txid, index: vout }) => Buffer.concat([reversed(txid), uint32(vout)]));
  const [outpoint, input] = [outpoints[index], inputs[index]];
  if (outpoint === undefined || input === undefined) throw new Error('an input of the transaction');
  const scriptCode = Buffer.concat([Buffer.from('1976a914', 'hex'), utxo.script.slice(2), Buffer.from('88ac', 'hex')]);
  const preimage = Buffer.concat([
    uint32(version),
    doubleSha256(...outpoints),
    doubleSha256(...inputs.map(({ sequence }) => uint32(sequence))),
    outpoint,
    scriptCode,
    uint64(utxo.amount),
    uint32(input.sequence),
    doubleSha256(...outputs.map(({ amount, script }) => Buffer.concat([uint64(amount), withLength(script)]))),
    uint32(lockTime),
    // SIGHASH_ALL
    uint32(1),
  ]);
  return Uint8Array.from(createHash('sha256').update(preimage).digest());
}

function doubleSha256(...parts: readonly Uint8Array[]): Buffer {
  const once = createHash('sha256').update(Buffer.concat(parts)).digest();
  return createHash('sha256').update(once).digest();
}
