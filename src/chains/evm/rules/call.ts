import type { Address, Hex } from 'viem';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import { isHexBytes, word } from '#chains/evm/rules/hex.ts';
import { UINT256_MAX, parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  OnChainIntent,
  TransferIntent,
} from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

/** A call to a contract, or a plain payment. */
export interface Call {
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
}

/** First four bytes of keccak256('transfer(address,uint256)'), ERC-20. */
export const TRANSFER_SELECTOR = '0xa9059cbb';

/** First four bytes of keccak256('approve(address,uint256)'), ERC-20. */
const APPROVE_SELECTOR = '0x095ea7b3';

/** First four bytes of keccak256('balanceOf(address)'), ERC-20. */
export const BALANCE_OF_SELECTOR = '0x70a08231';

/** First four bytes of keccak256('ownerOf(uint256)'), ERC-721. */
export const OWNER_OF_SELECTOR = '0x6352211e';

/** First four bytes of keccak256('decimals()'), of tokens and of price feeds. */
export const DECIMALS_SELECTOR = '0x313ce567';

/** More than any known protocol needs, and far below the capacity of a block. */
export const MAX_CALLDATA_BYTES = 24 * 1024;

/**
 * Returns the one call that executes an intent; null when the intent is not in canonical form,
 * because its source may be untrusted.
 */
export function callOf(intent: OnChainIntent): Call | null {
  switch (intent.kind) {
    case 'transfer':
      return transferCall(intent);
    case 'contract-interaction':
      return contractCall(intent);
    case 'erc20-approve':
      return approveCall(intent);
    default:
      return unreachable(intent);
  }
}

/** Returns a plain payment for the native asset, and `transfer(to, amount)` for a token. */
function transferCall(intent: TransferIntent): Call | null {
  const { to, tokenAddress, amount, paysFor, memo, recipientMayHaveNoKey, maxTokenFee } = intent;
  const acknowledged: unknown = intent.recipientIsToken;
  if ([paysFor, memo, recipientMayHaveNoKey, maxTokenFee].some((field) => field !== undefined)) return null;
  // An acknowledgement of anything else would make the field meaningless.
  if (acknowledged !== undefined && (acknowledged !== true || to !== tokenAddress)) return null;
  const recipient = canonicalAddress(to);
  const units = parseAmount(amount, UINT256_MAX);
  if (recipient === null || units === null) return null;
  if (tokenAddress === null) return { to: recipient, value: unitsOf(units), data: '0x' };
  const token = canonicalAddress(tokenAddress);
  return token === null ? null : tokenCall(token, TRANSFER_SELECTOR, { account: recipient, units: unitsOf(units) });
}

function contractCall({ to, data, value }: ContractInteractionIntent): Call | null {
  const contract = canonicalAddress(to);
  const units = parseAmount(value, UINT256_MAX);
  if (contract === null || units === null || !isCalldata(data)) return null;
  return { to: contract, value: unitsOf(units), data };
}

function approveCall({ tokenAddress, spender, amount }: Erc20ApproveIntent): Call | null {
  const [token, account] = [canonicalAddress(tokenAddress), canonicalAddress(spender)];
  const units = parseAmount(amount, UINT256_MAX);
  if (token === null || account === null || units === null) return null;
  return tokenCall(token, APPROVE_SELECTOR, { account, units: unitsOf(units) });
}

/** Reports whether a text is lower-case hex of whole bytes within the maximum length. */
export function isCalldata(text: string): text is Hex {
  return text.length <= 2 + 2 * MAX_CALLDATA_BYTES && isHexBytes(text);
}

/** Returns the call of an ERC-20 function with an account and an amount. */
function tokenCall(token: Address, selector: Hex, args: { readonly account: Address; readonly units: bigint }): Call {
  return { to: token, value: 0n, data: `${selector}${word(BigInt(args.account))}${word(args.units)}` };
}
