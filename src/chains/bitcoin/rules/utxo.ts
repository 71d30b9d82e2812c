import { inputWeightOf } from '#chains/bitcoin/rules/script-type.ts';

const HASH = /^[0-9a-f]{64}$/;

/**
 * Reports whether a text is the hash of a transaction or a block in Bitcoin's notation: 64 digits
 * in lower case.
 */
export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** An output that the wallet can spend, with its amount. */
export interface Utxo {
  /** In the usual notation: the hash of its transaction with the last byte first. */
  readonly txid: string;
  /** Number of the output. */
  readonly vout: number;
  /** Satoshi. */
  readonly amount: bigint;
}

/** The terms of a transaction that the intent does not determine. */
export interface SpendPlan {
  /**
   * In the order of the inputs. The first one stays the first in every attempt, so at most one of
   * all attempts is ever included.
   */
  readonly utxos: readonly Utxo[];
  /** Satoshi that return to the wallet; 0 for no such output. */
  readonly change: bigint;
}

/** The maximum supply in satoshi. */
export const MAX_SATOSHI = 2_100_000_000_000_000n;

/** BIP-125: signals that a transaction with a higher fee may replace this one. */
export const SEQUENCE = 0xfffffffd;

/** The weight of a transaction with a witness, before its inputs and outputs (BIP-141). */
const FRAME_WEIGHT = 42n;
const WEIGHT_PER_BYTE = 4n;
/** Eight bytes of amount, and the length of the script. */
const OUTPUT_BYTES = 9n;

/**
 * Returns the minimum amount that servers relay in an output with this script: the cost of spending
 * it at 3 satoshi per virtual byte (Bitcoin Core).
 */
export function dustOf(script: Uint8Array): bigint {
  const size = OUTPUT_BYTES + BigInt(script.length);
  const isWitness = script[0] === 0x00 || script[0] === 0x51;
  return 3n * (size + (isWitness ? 67n : 148n));
}

/**
 * Returns the size of a transaction that spends this number of a wallet's UTXOs to these scripts,
 * in virtual bytes.
 *
 * @param own script of the wallet
 */
export function virtualSizeOf(own: Uint8Array, utxos: number, scripts: readonly Uint8Array[]): bigint {
  const outputs = scripts.reduce((sum, script) => sum + OUTPUT_BYTES + BigInt(script.length), 0n);
  return virtualBytes(FRAME_WEIGHT + BigInt(utxos) * inputWeightOf(own) + outputs * WEIGHT_PER_BYTE);
}

/** Returns virtual bytes (BIP-141): a quarter of the weight, rounded up. */
export function virtualBytes(weight: bigint): bigint {
  return (weight + WEIGHT_PER_BYTE - 1n) / WEIGHT_PER_BYTE;
}

export function totalOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Returns the name under which a UTXO is reserved. Only one transaction can spend it. */
export function outpointText({ txid, vout }: Pick<Utxo, 'txid' | 'vout'>): string {
  return `${txid}:${vout}`;
}
