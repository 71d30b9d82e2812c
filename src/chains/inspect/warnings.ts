import type { DecodedCall } from '#chains/evm/rules/decode-call.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { messageWarnings } from '#chains/inspect/message-warnings.ts';
import { recipientWarnings, spenderWarnings } from '#chains/inspect/recipient-warnings.ts';
import type { Warning } from '#chains/inspect/warning.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { ListedToken } from '#domain/asset/chain.ts';
import type { ContractInteractionIntent, Intent, TransferIntent } from '#domain/transaction/intent.ts';

/** Half of the maximum amount of a token: no user means it as a limit. */
const UNLIMITED = 2n ** 255n;

/**
 * Returns warnings about everything in an intent that is easy to overlook and costly. They depend
 * only on the intent and on the listed tokens of its chain.
 */
export function warningsOf(intent: Intent, tokens: readonly ListedToken[] = []): Warning[] {
  switch (intent.kind) {
    case 'transfer':
      return [
        ...lookalike(intent.lookalikeOf),
        ...keyless(intent),
        ...tokenFee(intent),
        ...recipientWarnings(intent, tokens),
      ];
    case 'erc20-approve':
      return [
        ...lookalike(intent.lookalikeOf),
        ...spenderWarnings(intent.spender, intent.tokenAddress),
        ...allowanceWarnings(intent.amount, intent.spender),
      ];
    case 'contract-interaction':
      return [...lookalike(intent.lookalikeOf), ...recipientWarnings(intent, tokens), ...callWarnings(intent)];
    case 'message':
      return messageWarnings(intent);
  }
}

function lookalike(known: string | null): Warning[] {
  if (known === null) return [];
  return [
    { code: 'looks-alike', detail: `An address resembles the known address ${known} but is a different address.` },
  ];
}

function keyless({ to, recipientMayHaveNoKey }: TransferIntent): Warning[] {
  if (recipientMayHaveNoKey === undefined) return [];
  const detail = `${to} is a program-derived address without a key. Only the program can move what it receives.`;
  return [{ code: 'recipient-may-have-no-key', detail }];
}

function tokenFee({ amount, maxTokenFee }: TransferIntent): Warning[] {
  if (maxTokenFee === undefined) return [];
  const least = unitsOf(amount) - unitsOf(maxTokenFee);
  const got = `The recipient gets at least ${least > 0n ? least : 0n}.`;
  const detail = `The token may withhold ${maxTokenFee} of ${amount} units. ${got}`;
  return [{ code: 'token-withholds-fee', detail }];
}

function unlimited(amount: string, spender: string): Warning[] {
  if (BigInt(amount) < UNLIMITED) return [];
  return [
    { code: 'unlimited-allowance', detail: `${spender} may spend the entire balance of this token, now and later.` },
  ];
}

/**
 * The bytes of `approve` are the same for an ERC-20 token and for an ERC-721 contract, where they
 * name a token by its id.
 */
function allowanceWarnings(amount: string, spender: string): Warning[] {
  if (amount !== '0') return unlimited(amount, spender);
  const detail = `This revokes an allowance only for an ERC-20 token. On an NFT contract, ${spender} may take token 0.`;
  return [{ code: 'may-be-token-zero', detail }];
}

function callWarnings({ to, data }: ContractInteractionIntent): Warning[] {
  if (data === '0x') return [];
  const call = decodeCall(data);
  if (call === null) {
    return [{ code: 'unknown-call', detail: 'The call is not part of a known standard. Its effect is unknown.' }];
  }
  const argument = (name: string) => String(call.arguments.find((one) => one.name === name)?.value ?? '');
  if (call.function === 'setApprovalForAll' && argument('approved') === 'true') {
    return [{ code: 'approval-for-all', detail: `${argument('operator')} may take every token of this collection.` }];
  }
  if (!isAllowance(call)) return [];
  const spender = argument('spender');
  const ofToken = spenderWarnings(spender, to);
  if (call.function === 'approve') return [...ofToken, ...allowanceWarnings(argument('amount'), spender)];
  return [...ofToken, ...unlimited(argument('amount') || argument('addedAmount'), spender)];
}

function isAllowance({ function: name }: DecodedCall): boolean {
  return name === 'approve' || name === 'increaseAllowance' || name === 'permit';
}
