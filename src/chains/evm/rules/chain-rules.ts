import type { ChainRules } from '#chains/chain-rules.ts';
import { EVM_FIELDS } from '#chains/evm/rules/field-rules.ts';
import { NO_MEMO } from '#chains/chain-rules.ts';
import { assembleTransaction, signaturesIn } from '#chains/evm/rules/assemble.ts';
import { isCalldata } from '#chains/evm/rules/call.ts';
import type { EvmQuote } from '#chains/evm/rules/compose.ts';
import { composeMessage, composeTransaction } from '#chains/evm/rules/compose.ts';
import { assembleMessage, readMessage, readRawMessage } from '#chains/evm/rules/message.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** Returns the rules of an EVM chain with EIP-1559 fees. */
export function evmRules(chain: Chain): ChainRules<EvmQuote, bigint> {
  return {
    chain,
    ...EVM_FIELDS,
    kinds: ['transfer', 'contract-interaction', 'erc20-approve', 'message'],
    ordering: { by: 'account-nonce' },
    parseKeylessRecipient: () => null,
    parseCalldata,
    parseMessage: (text, options) => readMessage(chain.caip2, text, options),
    parseRawMessage: readRawMessage,
    memoFault: () => NO_MEMO,
    compose: composeTransaction,
    assemble: assembleTransaction,
    signaturesIn,
    composeMessage,
    assembleMessage,
  };
}

/** Converts upper-case digits to lower case; this one spelling is stored. */
function parseCalldata(text: string): string | null {
  const lower = text.startsWith('0x') ? text.toLowerCase() : text;
  return isCalldata(lower) ? lower : null;
}
