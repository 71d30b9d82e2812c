/**
 * The script that locks a wallet's UTXOs. It determines the scheme of the key, what a signature
 * covers and the weight of an input: P2TR by its key alone (BIP-341), or P2WPKH by the hash of an
 * ECDSA key (BIP-141).
 */
export type ScriptType =
  /** X-coordinate of the output key, 32 bytes. */
  | { readonly type: 'p2tr'; readonly outputKey: Uint8Array }
  /** HASH160 of the compressed key, 20 bytes. */
  | { readonly type: 'p2wpkh'; readonly keyHash: Uint8Array };

const VERSION_0 = 0x00;
const VERSION_1 = 0x51;

/** Returns null for a script that no wallet of Conclave has. */
export function scriptTypeOf(script: Uint8Array): ScriptType | null {
  const [version, length] = script;
  const program = script.slice(2);
  if (program.length !== length) return null;
  if (version === VERSION_1 && length === 32) return { type: 'p2tr', outputKey: program };
  return version === VERSION_0 && length === 20 ? { type: 'p2wpkh', keyHash: program } : null;
}

/**
 * An ECDSA signature needs two rounds of about 54 kB for each UTXO: more UTXOs than these make a
 * message too long.
 */
const MAX_INPUTS = { p2tr: 50, p2wpkh: 12 } as const;

/** Returns the maximum number of inputs in one transaction; each needs its own signature. Ours. */
export function maxInputsOf(script: Uint8Array): number {
  return MAX_INPUTS[scriptTypeOf(script)?.type ?? 'p2wpkh'];
}

/**
 * The weight of an input with its witness (BIP-141). For ECDSA it assumes the longest signature,
 * which is mostly a byte or two shorter.
 */
const INPUT_WEIGHTS = { p2tr: 230n, p2wpkh: 272n } as const;

export function inputWeightOf(script: Uint8Array): bigint {
  return INPUT_WEIGHTS[scriptTypeOf(script)?.type ?? 'p2wpkh'];
}
