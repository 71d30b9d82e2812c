import type { Amount } from '#domain/asset/amount.ts';
import { readableAmount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { newTransactionId, parseVaultId } from '#domain/id.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';

/** One asset that leaves a wallet whose key was rebuilt. Addresses are in canonical spelling. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  readonly amount: Amount;
  /** Token-2022: the most that the token withholds from the recipient. Absent for nothing. */
  readonly maxTokenFee?: Amount;
}

/**
 * Returns the transfer as an intent. No bytes of a chain contain the fields of the vault and of the
 * policy, and no approval is counted any more, so these are the same in every one.
 *
 * @param maxFee the most that the bytes may cost, in the smallest unit of the chain
 */
export function intentOf(chain: Chain, transfer: Transfer, maxFee: Amount): TransferIntent {
  const vaultId = parseVaultId(1);
  if (vaultId === null) throw new Error('1 is the id of a vault');
  const { from, to, tokenAddress, amount, maxTokenFee } = transfer;
  return {
    kind: 'transfer',
    vaultId,
    transactionId: newTransactionId(vaultId, 0, new Uint8Array(10)),
    chain: chain.caip2,
    from,
    to,
    tokenAddress,
    amount,
    maxFee,
    ...(maxTokenFee === undefined ? {} : { maxTokenFee }),
    lookalikeOf: null,
    policyVersion: 1,
    policyHash: '0'.repeat(64),
    note: null,
    createdAtMs: 0,
    expiresAtMs: 0,
  };
}

/**
 * Returns an amount with its unit. The decimals of a token that no operator lists are the claim of
 * its contract, so such an amount is in its smallest unit.
 */
export function amountText(chain: Chain, tokenAddress: string | null, units: bigint): string {
  if (tokenAddress === null) return `${readableAmount(units, chain.nativeDecimals)} ${chain.nativeSymbol}`;
  const listed = listedToken(chain, tokenAddress);
  return listed === null
    ? `${units} smallest units of ${tokenAddress}`
    : `${readableAmount(units, listed.decimals)} ${listed.symbol} (${tokenAddress})`;
}
