import { createHash } from 'node:crypto';
import { bytesToHex } from '@noble/hashes/utils.js';
import { verifiesBip340 } from '../../mpc/frost/bip340.ts';

/**
 * Reports whether a simple BIP-322 signature, after its variant prefix, is of a P2TR script over a
 * text. It is written from the standard, without the library that the project signs with.
 */
export function isBip322(script: Uint8Array, text: string, signature: string): boolean {
  if (!signature.startsWith('smp')) return false;
  const witness = Buffer.from(signature.slice(3), 'base64');
  if (witness.length !== 66 || witness[0] !== 1 || witness[1] !== 64) return false;
  const messageHash = tagged('BIP0322-signed-message', Buffer.from(text));
  const toSpend = hex(
    ['00000000', '01', '00'.repeat(32), 'ffffffff', '22', '0020', bytesToHex(messageHash), '00000000'],
    ['01', '00'.repeat(8), '22', bytesToHex(script), '00000000'],
  );
  const txid = sha256(sha256(toSpend));
  const message = Buffer.concat([
    hex(['00', '00', '00000000', '00000000']),
    sha256(Buffer.concat([txid, hex(['00000000'])])),
    sha256(hex(['00'.repeat(8)])),
    sha256(Buffer.concat([hex(['22']), script])),
    sha256(hex(['00000000'])),
    sha256(hex(['00'.repeat(8), '01', '6a'])),
    hex(['00', '00000000']),
  ]);
  return verifiesBip340(witness.subarray(2), tagged('TapSighash', message), script.subarray(2));
}

function hex(...parts: readonly (readonly string[])[]): Buffer {
  return Buffer.from(parts.flat().join(''), 'hex');
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function tagged(tag: string, bytes: Buffer): Buffer {
  const prefix = sha256(Buffer.from(tag));
  return sha256(Buffer.concat([prefix, prefix, bytes]));
}
