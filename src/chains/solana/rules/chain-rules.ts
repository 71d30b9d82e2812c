import type { ChainRules } from '#chains/chain-rules.ts';
import { SOLANA_FIELDS } from '#chains/solana/rules/field-rules.ts';
import { parseRecipient } from '#chains/solana/rules/address.ts';
import { assembleMessage, assembleTransaction, signaturesIn } from '#chains/solana/rules/assemble.ts';
import type { CurrentNonce, SolanaQuote } from '#chains/solana/rules/compose.ts';
import { composeMessage, composeTransaction } from '#chains/solana/rules/compose.ts';
import { memoFault } from '#chains/solana/rules/memo.ts';
import { readMessage } from '#chains/solana/rules/message.ts';
import { NONCE_SLOTS } from '#chains/solana/rules/payment-terms.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** Returns the rules of a Solana cluster. */
export function solanaRules(chain: Chain): ChainRules<SolanaQuote, CurrentNonce> {
  return {
    chain,
    ...SOLANA_FIELDS,
    kinds: ['transfer', 'message'],
    ordering: { by: 'nonce-slots', slots: NONCE_SLOTS },
    parseKeylessRecipient: (text) => {
      const recipient = parseRecipient(text);
      return recipient.ok && recipient.value.mayHaveNoKey ? recipient.value.address : null;
    },
    // A call needs its accounts, which calldata cannot hold.
    parseCalldata: () => null,
    parseMessage: (text) => readMessage(text),
    parseRawMessage: null,
    memoFault,
    compose: composeTransaction,
    assemble: assembleTransaction,
    signaturesIn,
    composeMessage,
    assembleMessage,
  };
}
