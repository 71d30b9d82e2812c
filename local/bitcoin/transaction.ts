import { hexToBytes } from '@noble/hashes/utils.js';
import { RawTx, Transaction } from '@scure/btc-signer';

export interface TxOut {
  readonly script: Uint8Array;
  readonly amount: bigint;
}

/** A transaction that the local chain accepted, with the outputs that it spends. */
export interface AcceptedTransaction {
  readonly hash: string;
  readonly raw: string;
  readonly inputs: readonly { readonly txid: string; readonly vout: number; readonly spent: TxOut | null }[];
  readonly outputs: readonly TxOut[];
  readonly fee: bigint;
  readonly virtualSize: bigint;
  readonly isReplaceable: boolean;
}

/** A refusal of a transaction, with the text and the number of Bitcoin Core. */
export class Rejected extends Error {
  readonly code: number;

  constructor(message: string, code = -26) {
    super(message);
    this.code = code;
  }
}

export type Decoded = ReturnType<typeof decoded>;

/** Returns the parts of a transaction. Throws `Rejected` for invalid bytes. */
export function decoded(raw: string) {
  try {
    return RawTx.decode(hexToBytes(raw));
  } catch {
    throw new Rejected('TX decode failed');
  }
}

const ANY = {
  allowUnknownInputs: true,
  allowUnknownOutputs: true,
  disableScriptCheck: true,
  allowLegacyWitnessUtxo: true,
};

/** Returns the hash of a transaction, from its bytes in hex. */
export function hashOf(raw: string): string {
  return Transaction.fromRaw(hexToBytes(raw), ANY).id;
}
