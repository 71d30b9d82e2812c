import type { PreparationFault, Simulation } from '#chains/chain-client.ts';
import type { ChainFault, Quote } from '#chains/chain-rules.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { fungibleKindOn } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Returns the simulation on a chain that has only payments and no contracts: a payment that can be
 * prepared moves exactly what the intent states, and one that cannot fails for that reason. Refuses
 * while no RPC node answers, and while another transaction has reserved the funds.
 */
export function simulatedByQuote(
  intent: OnChainIntent,
  quoted: Result<Quote, PreparationFault>,
): Result<Simulation, ChainFault> {
  if (intent.kind !== 'transfer') throw new Error('an intent on a chain without contracts is not a transfer');
  if (quoted.ok) return accepted({ outcome: 'succeeds', movements: [paymentOf(intent)], allowances: [] });
  const { refusal } = quoted;
  switch (refusal.kind) {
    case 'permanent':
      return accepted({ outcome: 'fails', detail: [refusal.reason, refusal.detail].filter(Boolean).join(': ') });
    case 'busy':
      return refused({ detail: 'The funds are reserved by another transaction.' });
    case 'transient':
      return refused({ detail: refusal.detail });
  }
}

function paymentOf(intent: Extract<OnChainIntent, { kind: 'transfer' }>): ChainMovement {
  const { chain, from, to, tokenAddress } = intent;
  const amount = parseAmount(intent.amount);
  if (amount === null) throw new Error('a stored intent is not in canonical form');
  const kind = tokenAddress === null ? 'native' : fungibleKindOn(chain) === 'spl' ? 'spl' : 'erc20';
  return { uid: 'top', kind, from, to, tokenAddress, tokenId: null, amount };
}
