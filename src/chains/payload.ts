import type { EvmMessage, EvmPayload, EvmPayloadFault } from '#chains/evm/payload.ts';
import { inspectEvmMessage, inspectEvmPayload } from '#chains/evm/payload.ts';
import type { Intent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

export type PayloadFault = 'unsupported-chain' | EvmPayloadFault;
export type InspectedPayload = EvmPayload | EvmMessage;

/**
 * Proves that unsigned bytes do exactly what an intent says and cost at most what it allows. Every co-signer runs this by
 * itself before it takes part: pure, no network, and safe against a coordinator that sends anything at all.
 *
 * Refuses `unsupported-chain` first, then what the chain's family refuses.
 */
export function inspectPayload(intent: Intent, payload: string): Result<InspectedPayload, PayloadFault> {
  const isEvm = typeof intent.chain === 'string' && intent.chain.startsWith('eip155:');
  if (!isEvm) return refused('unsupported-chain');
  return intent.kind === 'message' ? inspectEvmMessage(intent, payload) : inspectEvmPayload(intent, payload);
}
