import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { isUnboundMessage, signedChainId } from '#chains/evm/rules/message.ts';
import { isNamedPayment, tokenAuthorisationOf } from '#chains/evm/rules/token-authorisation.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { readTypedDataText } from '#chains/evm/rules/typed-data.ts';
import type { Warning } from '#chains/inspect/warning.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';

/** Types of typed data that allow another account to spend tokens: ERC-2612 and Permit2. */
export const PERMITS: ReadonlySet<string> = new Set([
  'Permit',
  'PermitSingle',
  'PermitBatch',
  'PermitTransferFrom',
  'PermitBatchTransferFrom',
  'PermitWitnessTransferFrom',
  'PermitBatchWitnessTransferFrom',
]);

/** The length of every hash that contracts verify. */
const HASH_BYTES = 32;

/** Returns the warnings of a message. They depend only on its intent. */
export function messageWarnings(intent: MessageIntent): Warning[] {
  return [...contentWarnings(intent), ...droppedKeys(intent), ...unbound(intent)];
}

function contentWarnings({ format, message, chain }: MessageIntent): Warning[] {
  switch (format) {
    case 'eip712': {
      const typed = readTypedDataText(message);
      return typed.ok ? [...authorisation(typed.value), ...foreignChain(typed.value, chain)] : [];
    }
    case 'eip191-hex': {
      const length = (message.length - '0x'.length) / 2;
      const detail = 'The message is bytes and no text. What they authorise cannot be shown.';
      return [{ code: 'raw-bytes', detail }, ...mayBeHash(length)];
    }
    case 'eip191':
      // A text of 32 letters is signed like the hash with these bytes. An attacker can vary what a
      // hash covers until all its bytes are letters.
      return mayBeHash(new TextEncoder().encode(message).length);
    case 'solana-offchain':
    case 'bip322':
      return [];
  }
}

function mayBeHash(length: number): Warning[] {
  if (length !== HASH_BYTES) return [];
  const detail =
    'The message has 32 bytes, so it can be the hash of anything: a transaction of a Safe, a user operation, an order.';
  return [{ code: 'may-be-a-hash', detail }];
}

function authorisation(typed: TypedData): Warning[] {
  const { primaryType } = typed;
  if (PERMITS.has(primaryType)) {
    return [
      { code: 'permit', detail: 'This permit allows token spending without a further transaction of the vault.' },
    ];
  }
  if (!isNamedPayment(primaryType)) return [];
  const payment = tokenAuthorisationOf(typed);
  const what = payment === null ? 'tokens' : `${payment.amount} units of the token ${payment.token}`;
  const to = payment === null ? '' : ` from ${payment.owner} to ${payment.beneficiary}`;
  const detail = `A holder of this signature can move ${what}${to}, without a further transaction of the vault.`;
  return [{ code: 'payment-by-signature', detail }];
}

function foreignChain(typed: TypedData, chain: string): Warning[] {
  const [signed, own] = [signedChainId(typed), chainIdOf(chain)];
  if (signed === null || signed === own) return [];
  const detail =
    `The signature is for the chain id ${signed} and not for this chain, whose id is ${own}. The wallet has the same ` +
    'key and address on every EVM chain, so what is signed can take effect there.';
  return [{ code: 'foreign-chain', detail }];
}

function droppedKeys({ droppedKeys: count = 0 }: MessageIntent): Warning[] {
  if (count === 0) return [];
  const keys = count === 1 ? '1 key' : `${count} keys`;
  const detail = `${keys} of the typed data that no type declares was dropped. What is dropped is not signed.`;
  return [{ code: 'dropped-keys', detail }];
}

function unbound(intent: MessageIntent): Warning[] {
  if (!isUnboundMessage(intent)) return [];
  const detail =
    'The signature names no chain. It is valid on every EVM chain, including chains that the vault does not use.';
  return [{ code: 'valid-on-every-chain', detail }];
}
