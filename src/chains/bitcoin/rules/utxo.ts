import { inputWeightOf } from '#chains/bitcoin/rules/script-type.ts';

const HASH = /^[0-9a-f]{64}$/;

/** Reports whether a text is the hash of a transaction or a block as Bitcoin writes it: 64 digits in lower case. */
export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** An output that the wallet can spend, and what it holds. */
export interface Utxo {
  /** As it is written: the hash of its transaction with the last byte first. */
  readonly txid: string;
  /** Number of the output. */
  readonly vout: number;
  /** Satoshi. */
  readonly amount: bigint;
}

/** What the bytes of an intent say besides the intent. */
export interface SpendPlan {
  /** As they are spent. The first one stays the first in every attempt: so of all attempts at most one is ever included. */
  readonly utxos: readonly Utxo[];
  /** Satoshi that go back to the wallet; 0 for no such output. */
  readonly change: bigint;
}

/** Satoshi there will ever be. */
export const MAX_SATOSHI = 2_100_000_000_000_000n;

/** BIP-125: it may be replaced by one that pays more. */
export const SEQUENCE = 0xfffffffd;

/** Of a transaction with a witness, before its inputs and outputs, in weight (BIP-141). */
const FRAME_WEIGHT = 42n;
const WEIGHT_PER_BYTE = 4n;
/** Eight bytes of amount, and the length of the script. */
const OUTPUT_BYTES = 9n;

/** The least that nodes relay in an output with this script: what it would cost to spend it, at 3 satoshi per virtual byte (Bitcoin Core). */
export function dustOf(script: Uint8Array): bigint {
  const size = OUTPUT_BYTES + BigInt(script.length);
  const isWitness = script[0] === 0x00 || script[0] === 0x51;
  return 3n * (size + (isWitness ? 67n : 148n));
}

/** Of a transaction that spends so many coins of a wallet to these scripts, in virtual bytes. @param own script of the wallet */
export function virtualSizeOf(own: Uint8Array, utxos: number, scripts: readonly Uint8Array[]): bigint {
  const outputs = scripts.reduce((sum, script) => sum + OUTPUT_BYTES + BigInt(script.length), 0n);
  return virtualBytes(FRAME_WEIGHT + BigInt(utxos) * inputWeightOf(own) + outputs * WEIGHT_PER_BYTE);
}

/** BIP-141: a quarter of the weight, rounded up. */
export function virtualBytes(weight: bigint): bigint {
  return (weight + WEIGHT_PER_BYTE - 1n) / WEIGHT_PER_BYTE;
}

export function totalOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + amount, 0n);
}

/** What one transaction alone can use, as it is claimed. */
export function outpointText({ txid, vout }: Pick<Utxo, 'txid' | 'vout'>): string {
  return `${txid}:${vout}`;
}
