import { verifyMessage as verifyOnBitcoin } from '#chains/bitcoin/rules/verify-message.ts';
import { verifyMessage as verifyOnEvm } from '#chains/evm/client/verify-message.ts';
import type { ClaimFault, MessageClaim, MessageVerdict } from '#chains/message-verdict.ts';
import { verifyMessage as verifyOnSolana } from '#chains/solana/rules/verify-message.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';

type Verify = (claim: MessageClaim) => Result<MessageVerdict, ClaimFault>;

const BY_FAMILY: Readonly<Record<Chain['family'], Verify>> = {
  evm: verifyOnEvm,
  solana: verifyOnSolana,
  bitcoin: verifyOnBitcoin,
};

/**
 * Reports whether the key of an address has signed a message: EIP-191, EIP-712, an off-chain
 * message of Solana (version 1), or BIP-322 (simple). Pure: no chain is asked. Refuses malformed
 * parts of the claim, each by its name.
 */
export function verifyMessage(family: Chain['family'], claim: MessageClaim): Result<MessageVerdict, ClaimFault> {
  return BY_FAMILY[family](claim);
}
