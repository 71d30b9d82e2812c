import type { BitcoinMessage, BitcoinPayload, BitcoinPayloadFault } from '#chains/bitcoin/rules/payload.ts';
import { inspectBitcoinMessage, inspectBitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import { needsAmountProof } from '#chains/bitcoin/rules/amount-proof.ts';
import type { EvmMessage, EvmPayload, EvmPayloadFault } from '#chains/evm/rules/payload.ts';
import { inspectEvmMessage, inspectEvmPayload } from '#chains/evm/rules/payload.ts';
import type { SolanaMessage, SolanaPayload, SolanaPayloadFault } from '#chains/solana/rules/payload.ts';
import { inspectSolanaMessage, inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import type { Intent, OnChainIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

export type PayloadFault = 'unsupported-chain' | EvmPayloadFault | SolanaPayloadFault | BitcoinPayloadFault;
export type InspectedPayload =
  | EvmPayload
  | EvmMessage
  | SolanaPayload
  | SolanaMessage
  | BitcoinPayload
  | BitcoinMessage;

/**
 * Reports whether the evidence proves every assumption of proven bytes. Every co-signer runs this
 * as well.
 *
 * @param evidence anything that a coordinator has sent
 */
export function isEvidenced(payload: InspectedPayload, evidence: readonly string[]): boolean {
  return !('payment' in payload) || needsAmountProof(payload, evidence);
}

/**
 * Proves that unsigned bytes do exactly what an intent states and cost at most what it allows.
 * Every co-signer runs this itself before it takes part. It is pure, needs no network, and is safe
 * against any input of a coordinator.
 *
 * Refuses `unsupported-chain` first, then what the chain's family refuses.
 */
export function inspectPayload(intent: Intent, payload: string): Result<InspectedPayload, PayloadFault> {
  const chain: unknown = intent.chain;
  const namespace = typeof chain === 'string' ? chain.slice(0, chain.indexOf(':')) : '';
  switch (namespace) {
    case 'eip155':
      return intent.kind === 'message' ? inspectEvmMessage(intent, payload) : inspectEvmPayload(intent, payload);
    case 'solana':
      return intent.kind === 'message' ? inspectSolanaMessage(intent, payload) : inspectSolanaPayload(intent, payload);
    case 'bip122':
      return intent.kind === 'message'
        ? inspectBitcoinMessage(intent, payload)
        : inspectBitcoinPayload(intent, payload);
    default:
      return refused('unsupported-chain');
  }
}

type AttemptBytes = Pick<Attempt, 'payload' | 'purpose'>;

/** Reports whether two attempts use the same nonce: co-signers sign a further one only then. */
export function haveSameNonce(intent: OnChainIntent, one: AttemptBytes, other: AttemptBytes): boolean {
  const [before, now] = [one, other].map(({ payload, purpose }) => nonceOf(actionOfAttempt(intent, purpose), payload));
  return before !== null && before === now;
}

function nonceOf(intent: OnChainIntent, payload: string): bigint | null {
  const inspected = inspectPayload(intent, payload);
  return inspected.ok && inspected.value.kind === 'transaction' ? inspected.value.bid.nonce : null;
}
