import { createHash } from 'node:crypto';
import type { Decoded, TxOut } from './transaction.ts';

/**
 * Returns the hash that a taproot key signs (BIP-341, "Common signature message", default hash
 * type, no annex). It is written from the standard and not with the library that makes our
 * transactions, so an error of the library is detected here.
 */
export function taprootSighash(transaction: Decoded, index: number, utxos: readonly TxOut[]): Uint8Array {
  const { version, lockTime, inputs, outputs } = transaction;
  const outpoints = inputs.map(({ txid, index: vout }) => Buffer.concat([reversed(txid), uint32(vout)]));
  const message = Buffer.concat([
    // epoch, hash_type
    Buffer.from([0x00, 0x00]),
    uint32(version),
    uint32(lockTime),
    sha256(...outpoints),
    sha256(...utxos.map(({ amount }) => uint64(amount))),
    sha256(...utxos.map(({ script }) => withLength(script))),
    sha256(...inputs.map(({ sequence }) => uint32(sequence))),
    sha256(...outputs.map(({ amount, script }) => Buffer.concat([uint64(amount), withLength(script)]))),
    // spend_type: key path, no annex
    Buffer.from([0x00]),
    uint32(index),
  ]);
  const tag = sha256(Buffer.from('TapSighash'));
  return Uint8Array.from(sha256(tag, tag, message));
}

function sha256(...parts: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

/** Reverses a hash: transactions encode hashes in reverse display order. */
export function reversed(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.toReversed());
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Prefixes a script with its length. All scripts here need only one length byte. */
export function withLength(script: Uint8Array): Buffer {
  if (script.length > 252) throw new Error('a script of one byte of length');
  return Buffer.concat([Buffer.from([script.length]), script]);
}
