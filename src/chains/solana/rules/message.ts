import { compileOffchainMessageV1Envelope } from '@solana/kit';
import type { MessageText } from '#chains/chain-rules.ts';
import { plainTextFault } from '#chains/message-text.ts';
import { parseWallet } from '#chains/solana/rules/address.ts';
import { clusterOf } from '#chains/solana/rules/cluster.ts';
import type { MessageExtras, MessageIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Reads the text of a new message. Returns what is stored, shown and signed. Refuses with a text
 * for users.
 */
export function readMessage(text: string): Result<MessageText, string> {
  const fault = plainTextFault(text);
  return fault === null ? accepted({ format: 'solana-offchain', message: text }) : refused(fault);
}

/**
 * Returns the bytes that are signed for a message (off-chain message signing, sRFC 3, version 1),
 * or null for an intent that is not in canonical form. They begin with 0xff, the one version that
 * no transaction will ever have: no message is ever a payment.
 */
export function offchainMessage({
  chain,
  from,
  format,
  message,
  foreignChainId,
  droppedKeys,
}: Pick<MessageIntent, 'chain' | 'from' | 'format' | 'message' | keyof MessageExtras>): Uint8Array | null {
  if (foreignChainId !== undefined || droppedKeys !== undefined) return null;
  const texts: readonly unknown[] = [chain, from, message];
  if (texts.some((text) => typeof text !== 'string') || format !== 'solana-offchain') return null;
  const wallet = parseWallet(from);
  if (clusterOf(chain) === null || !wallet.ok || !readMessage(message).ok) return null;
  const envelope = compileOffchainMessageV1Envelope({
    version: 1,
    requiredSignatories: [{ address: wallet.value }],
    content: message,
  });
  return Uint8Array.from(envelope.content);
}
