import type { ChainClient } from '#chains/chain-client.ts';
import type { Quote } from '#chains/chain-rules.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { JobPayment } from './job.ts';

/** A wallet that is emptied, and where its assets go. Addresses are in canonical spelling. */
export interface SweptWallet {
  readonly from: string;
  readonly to: string;
  /** Tokens that may be in the wallet. */
  readonly tokens: readonly string[];
  /** Whether UTXOs are spent that may carry more than satoshi. */
  readonly includeMayCarryMore: boolean;
}

/** What a round does not move, and why. */
export interface Remainder {
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  /** In the smallest unit; null when unknown. */
  readonly units: bigint | null;
  readonly reason: string;
  /** A later round may move it. */
  readonly isOpen: boolean;
}

/** The payments of one wallet in one job. */
export interface WalletRound {
  readonly payments: readonly JobPayment[];
  readonly remainders: readonly Remainder[];
}

/** A transfer with what its inclusion costs. */
export interface Priced {
  readonly intent: TransferIntent;
  readonly quote: Quote;
}

/** Returns the value of an RPC call. Throws with its reason, and the chain, for a refusal. */
export function answered<T>(
  { chain }: Pick<ChainClient, 'chain'>,
  answer:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly refusal: { readonly detail: string } },
): T {
  if (!answer.ok) throw new Error(`${chain.name}: ${answer.refusal.detail}`);
  return answer.value;
}

/** Returns the unsigned bytes of a transfer at a nonce, with the evidence of their amounts. */
export async function paymentAt(client: ChainClient, { intent, quote }: Priced, nonce: bigint): Promise<JobPayment> {
  const { chain, from, to, tokenAddress, amount, maxTokenFee } = intent;
  const anchor = answered(client, await client.anchor({ from, nonce, replaced: null }));
  const { payload, validUntil, anchoredAt, coinParents, ...composed } = client.rules.compose(intent, quote, anchor);
  const evidence = answered(client, await client.evidence(payload));
  return {
    chain,
    from,
    to,
    tokenAddress,
    amount,
    ...(maxTokenFee === undefined ? {} : { maxTokenFee }),
    nonce: composed.nonce,
    payload,
    validUntil,
    ...(anchoredAt === undefined ? {} : { anchoredAt }),
    ...(coinParents === undefined
      ? {}
      : { coinParents: coinParents.map(({ txid, spends }) => ({ txid, spends: [...spends] })) }),
    evidence: [...evidence],
  };
}
