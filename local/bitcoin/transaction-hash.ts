import { hexToBytes } from '@noble/hashes/utils.js';
import { Transaction } from '@scure/btc-signer';

const ANY = {
  allowUnknownInputs: true,
  allowUnknownOutputs: true,
  disableScriptCheck: true,
  allowLegacyWitnessUtxo: true,
};

/** The hash by which a transaction is named, of its bytes in hex. */
export function hashOf(raw: string): string {
  return Transaction.fromRaw(hexToBytes(raw), ANY).id;
}
