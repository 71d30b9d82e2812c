import { createHash, createPublicKey, verify } from 'node:crypto';
import { schnorr } from '@noble/curves/secp256k1.js';
import type { Decoded, TxOut } from './transaction.ts';
import { segwitSighashHalf } from './segwit-sighash.ts';
import { taprootSighash } from './taproot-sighash.ts';

/** The prefix of a compressed point: SubjectPublicKeyInfo for secp256k1 (RFC 5480). */
const COMPRESSED_SECP256K1 = Buffer.from('3036301006072a8648ce3d020106052b8104000a032200', 'hex');

/**
 * Reports whether an input may spend its UTXO: P2TR by its key (BIP-341, default hash), P2WPKH by a
 * key of this hash (BIP-141, hash type ALL).
 */
export function isUnlocked(transaction: Decoded, index: number, utxos: readonly TxOut[]): boolean {
  const utxo = utxos[index];
  const witness = (transaction.witnesses?.[index] ?? []).map((item) => Uint8Array.from(item));
  const [signature, publicKey] = witness;
  if (signature === undefined || utxo === undefined) return false;
  const { script } = utxo;
  if (script.length === 34 && script[0] === 0x51) {
    if (witness.length !== 1 || signature.length !== 64) return false;
    return schnorr.verify(signature, taprootSighash(transaction, index, utxos), script.slice(2));
  }
  if (script.length !== 22 || script[0] !== 0x00 || witness.length !== 2 || publicKey?.length !== 33) return false;
  const keyHash = createHash('ripemd160').update(createHash('sha256').update(publicKey).digest()).digest();
  if (Buffer.compare(keyHash, script.slice(2)) !== 0 || signature.at(-1) !== 0x01) return false;
  const der = Buffer.concat([COMPRESSED_SECP256K1, publicKey]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify('sha256', segwitSighashHalf(transaction, index, utxo), key, signature.slice(0, -1));
}
