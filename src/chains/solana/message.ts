import { compileOffchainMessageV1Envelope } from '@solana/kit';
import type { MessageText } from '#chains/chain-adapter.ts';
import { parseWallet } from '#chains/solana/address.ts';
import { clusterOf } from '#chains/solana/cluster.ts';
import type { MessageIntent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Long enough for every sign-in text; people have to read it. */
const MOST_MESSAGE_BYTES = 16 * 1024;

/** Reads the text of a new message. Gives what is stored, shown and signed. Refuses in words. */
export function readMessage(text: string): Result<MessageText, string> {
  if (text.length === 0) return refused('is empty');
  if (!text.isWellFormed()) return refused('is not well-formed Unicode');
  if (new TextEncoder().encode(text).length > MOST_MESSAGE_BYTES) {
    return refused(`has at most ${MOST_MESSAGE_BYTES} bytes in UTF-8`);
  }
  return accepted({ format: 'solana-offchain', message: text });
}

/**
 * The bytes that are signed for a message (off-chain message signing, sRFC 3, version 1), or null for an intent that is not in canonical
 * form. They begin with 0xff, the one version that no transaction will ever have: no message is ever a payment.
 */
export function offchainMessage({ chain, from, format, message }: MessageIntent): Uint8Array | null {
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
