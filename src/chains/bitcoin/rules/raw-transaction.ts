import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { RawTx } from '@scure/btc-signer';

/** A transaction decoded from its own bytes, in the one encoding whose hash is its name. */
export interface RawTransaction {
  readonly name: string;
  /** Its bytes without witnesses, in hex. */
  readonly stripped: string;
  /** A miner's reward, which spends nothing. */
  readonly isCoinbase: boolean;
  /** Names of the UTXOs that it spends, `<transaction>:<number of the output>`. */
  readonly spends: readonly string[];
  readonly outputs: readonly { readonly amount: bigint; readonly script: Uint8Array }[];
}

const NOTHING = '0'.repeat(64);

/** Decodes a transaction from hex. Returns null for bytes that are not one. */
export function readRaw(raw: string): RawTransaction | null {
  try {
    const { witnesses: _, ...rest } = RawTx.decode(hexToBytes(raw));
    const stripped = bytesToHex(Uint8Array.from(RawTx.encode({ ...rest, segwitFlag: false, witnesses: undefined })));
    const inputs = rest.inputs.map(({ txid, index }) => ({ txid: bytesToHex(Uint8Array.from(txid)), index }));
    const isCoinbase = inputs[0]?.txid === NOTHING;
    return {
      name: bytesToHex(sha256(sha256(hexToBytes(stripped))).toReversed()),
      stripped,
      isCoinbase,
      spends: isCoinbase ? [] : inputs.map(({ txid, index }) => `${txid}:${index}`),
      outputs: rest.outputs.map(({ amount, script }) => ({ amount, script: Uint8Array.from(script) })),
    };
  } catch {
    // btc-signer throws for bytes that are not a valid encoding.
    return null;
  }
}
