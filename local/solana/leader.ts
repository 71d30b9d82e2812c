import { ed25519 } from '@noble/curves/ed25519.js';
import type { Address, CompiledTransactionMessage, Transaction } from '@solana/kit';
import { getInstructionsFromCompiledTransactionMessage } from '@solana/kit';
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget';
import { bytesOf } from '#chains/solana/rules/address.ts';

/** The rules by which the leader of a slot chooses transactions. */
export interface LeaderRules {
  /** Transactions that a slot holds. */
  readonly perSlot: number;
  /**
   * The competing offers in each slot, in millionths of a lamport for each compute unit; none when
   * absent.
   */
  readonly crowd?: readonly bigint[];
  /**
   * Reports whether a transaction is lost before it reaches the leader. The node that accepted it
   * does not report the loss.
   */
  readonly isLost?: (hash: string) => boolean;
}

/** A transaction that a node forwarded, and that no slot holds yet. */
export interface Waiting {
  readonly hash: string;
  readonly price: bigint;
  readonly wire: Uint8Array;
}

/**
 * Returns the transactions of one slot, the highest prices first, and the lowest price among them.
 */
export function chosenFor(
  { perSlot, crowd = [] }: LeaderRules,
  waiting: readonly Waiting[],
): { readonly chosen: readonly Waiting[]; readonly lowest: bigint } {
  const offers = [
    ...crowd.map((price) => ({ price, one: null })),
    ...waiting.map((one) => ({ price: one.price, one })),
  ];
  // Of two equal offers the earlier one is chosen: the crowd.
  const taken = offers.toSorted((a, b) => (a.price < b.price ? 1 : a.price > b.price ? -1 : 0)).slice(0, perSlot);
  return { chosen: taken.flatMap(({ one }) => (one === null ? [] : [one])), lowest: taken.at(-1)?.price ?? 0n };
}

/** Returns the offer of a transaction for each compute unit; 0 when it states none. */
export function offeredPrice(message: CompiledTransactionMessage & { readonly lifetimeToken: string }): bigint {
  for (const { programAddress, data } of getInstructionsFromCompiledTransactionMessage(message)) {
    // The third instruction of the program, counted from zero.
    if (programAddress !== COMPUTE_BUDGET_PROGRAM_ADDRESS || data?.[0] !== 3) continue;
    return getSetComputeUnitPriceInstructionDataDecoder().decode(data).microLamports;
  }
  return 0n;
}

/** Reports whether the payer has signed a transaction. No transaction here has several signers. */
export function isSignedBy(signer: Address, { messageBytes, signatures }: Transaction): boolean {
  const signature = Object.entries(signatures).find(([at]) => at === signer)?.[1];
  return (
    signature != null && ed25519.verify(Uint8Array.from(signature), Uint8Array.from(messageBytes), bytesOf(signer))
  );
}
