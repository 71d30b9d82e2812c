import { RawTx } from '@scure/btc-signer';

/** Returns the virtual size (BIP-141): bytes outside the witness count four times. */
export function virtualSizeOf(decoded: ReturnType<typeof RawTx.decode>): bigint {
  const { witnesses: _, ...stripped } = decoded;
  const base = RawTx.encode({ ...stripped, segwitFlag: false, witnesses: undefined }).length;
  return BigInt(Math.ceil((base * 3 + RawTx.encode(decoded).length) / 4));
}
