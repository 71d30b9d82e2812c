import type { ChainFault, PreparationFault, Quote } from '#chains/chain-adapter.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { ChainMovement } from '#domain/activity/movement.ts';
import { fungibleKindOn } from '#domain/activity/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A leave to spend tokens of the wallet that would be given, or taken back. */
export interface Allowance {
  readonly tokenAddress: string;
  /** Of one token of a collection; null for any. */
  readonly tokenId: string | null;
  readonly spender: string;
  /** In the token's smallest unit; null for all that there is, now and later. */
  readonly amount: Amount | null;
}

/** What carrying out an intent would come to, in the state of now. A node's word: it warns, and decides nothing. */
export type Simulation =
  | {
      readonly outcome: 'succeeds';
      /** Everything that would change hands, but for the fee. */
      readonly movements: readonly ChainMovement[];
      readonly allowances: readonly Allowance[];
    }
  /** In words. */
  | { readonly outcome: 'fails'; readonly detail: string };

/**
 * Where nothing but payments can be asked for, and no contract has a say: what can be prepared pays exactly what the intent says, and what can
 * not be would fail for that reason. Refuses while no node answers, and while what it would pay with is claimed by another.
 */
export function simulatedByQuote(
  intent: OnChainIntent,
  quoted: Result<Quote, PreparationFault>,
): Result<Simulation, ChainFault> {
  if (intent.kind !== 'transfer') throw new Error('a chain without contracts has payments alone');
  if (quoted.ok) return accepted({ outcome: 'succeeds', movements: [paymentOf(intent)], allowances: [] });
  const { refusal } = quoted;
  switch (refusal.kind) {
    case 'permanent':
      return accepted({ outcome: 'fails', detail: [refusal.reason, refusal.detail].filter(Boolean).join(': ') });
    case 'busy':
      return refused({ detail: 'what it would pay with is on its way in another transaction' });
    case 'transient':
      return refused({ detail: refusal.detail });
  }
}

function paymentOf(intent: Extract<OnChainIntent, { kind: 'transfer' }>): ChainMovement {
  const { chain, from, to, tokenAddress } = intent;
  const amount = parseAmount(intent.amount);
  if (amount === null) throw new Error('a stored intent is in canonical form');
  const kind = tokenAddress === null ? 'native' : fungibleKindOn(chain) === 'spl' ? 'spl' : 'erc20';
  return { uid: 'top', kind, from, to, tokenAddress, tokenId: null, amount };
}
