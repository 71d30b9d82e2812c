import type { Address, Hex } from 'viem';
import { canonicalAddress } from '#chains/evm/address.ts';
import { word } from '#chains/evm/hex.ts';
import { UINT256_MAX, parseAmount, unitsOf } from '#domain/amount.ts';
import type { TransferIntent } from '#domain/intent.ts';

/** A call to a contract, or a plain payment. */
export interface Call {
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
}

/** First four bytes of keccak256('transfer(address,uint256)'), ERC-20. */
export const TRANSFER_SELECTOR = '0xa9059cbb';

/**
 * The one call that carries out a transfer: a plain payment for the native asset, `transfer(to, amount)` for a token. Null
 * when the intent is not in canonical form; the caller may have it from somebody it does not trust.
 */
export function transferCall(intent: TransferIntent): Call | null {
  const to = canonicalAddress(intent.to);
  const amount = parseAmount(intent.amount, UINT256_MAX);
  if (to === null || amount === null) return null;
  if (intent.tokenAddress === null) return { to, value: unitsOf(amount), data: '0x' };
  const token = canonicalAddress(intent.tokenAddress);
  if (token === null) return null;
  return { to: token, value: 0n, data: `${TRANSFER_SELECTOR}${word(BigInt(to))}${word(unitsOf(amount))}` };
}
