import type { DecodedCall } from '#chains/evm/rules/decode-call.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { isUnboundMessage, signedChainId } from '#chains/evm/rules/message.ts';
import { canonicalIn, tokenAuthorisationOf } from '#chains/evm/rules/token-authorisation.ts';
import { readTypedDataText } from '#chains/evm/rules/typed-data.ts';
import { amountOf, UINT256_MAX } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Exposure, AssetAmount } from '#domain/asset/exposure.ts';
import type { Action } from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

type SpentAssets = Omit<Exposure, 'chain'>;

/** The assets of a message, and the chain (CAIP-2) on which its signature is valid. */
type SignedAssets = SpentAssets & { readonly signedFor?: string };

/** No movement and no beneficiary. */
const NOTHING: SpentAssets = { movements: [], beneficiaries: [], isUnreadable: false };

/**
 * Returns what an action puts at risk. Anything that is not decoded completely is unreadable, never
 * nothing: a rule that cannot be applied must not pass.
 *
 * The exposure is on the chain of the action, and that of typed data on the chain that its domain
 * names.
 *
 * @param context the chain (CAIP-2) and the acting wallet, which is no beneficiary of its own
 * action; and the largest fee
 */
export function exposureOf(
  action: Action,
  context: { readonly chain: string; readonly from: string; readonly maxFee?: Amount },
): Exposure {
  const { signedFor, ...stake } = spentAssetsOf(action, context.from);
  const beneficiaries = stake.beneficiaries.filter((address) => address !== context.from);
  const fee = context.maxFee === undefined ? {} : { fee: context.maxFee };
  return { ...stake, chain: signedFor ?? context.chain, beneficiaries, ...fee };
}

function spentAssetsOf(action: Action, wallet: string): SignedAssets {
  switch (action.kind) {
    case 'transfer':
      return readable({ tokenAddress: action.tokenAddress, amount: action.amount }, action.to);
    case 'erc20-approve':
      // Revoking an allowance must work in an emergency, and for a spender outside the address book
      // as well. An ERC-721 contract reads the same bytes as token 0: signers are warned of it
      // (`may-be-token-zero`).
      if (action.amount === '0') return NOTHING;
      return readable({ tokenAddress: action.tokenAddress, amount: action.amount }, action.spender);
    case 'contract-interaction': {
      const paid: AssetAmount = { tokenAddress: null, amount: action.value };
      const call = action.data === '0x' ? NOTHING : spentByCall(action.to, decodeCall(action.data));
      return {
        movements: [paid, ...call.movements],
        beneficiaries: [action.to, ...call.beneficiaries],
        isUnreadable: call.isUnreadable,
      };
    }
    case 'message': {
      const stake = spentByMessage(action, wallet);
      return isUnboundMessage(action) ? { ...stake, isUnbound: true } : stake;
    }
    default:
      return unreachable(action);
  }
}

function readable(movement: AssetAmount, ...beneficiaries: string[]): SpentAssets {
  return { movements: [movement], beneficiaries, isUnreadable: false };
}

/** Returns an exposure with unknown movements; the addresses that it names are known at least. */
function unreadable(...beneficiaries: string[]): SpentAssets {
  return { movements: [], beneficiaries, isUnreadable: true };
}

/**
 * Returns the exposure of a token call, by its standard. `transferFrom` and `approve` may also be
 * calls of an ERC-721, where the number is an id and 0 is a valid id, so it never counts as
 * nothing. The movements of vault shares (ERC-4626) and batches cannot be determined here.
 */
function spentByCall(token: string, call: DecodedCall | null): SpentAssets {
  if (call === null) return unreadable();
  const atLeastOne = (amount: string) => (amount === '0' ? '1' : amount);
  const text = (name: string) => String(call.arguments.find((one) => one.name === name)?.value ?? '');
  const moves = (amount: string, beneficiary: string): SpentAssets =>
    readable({ tokenAddress: token, amount: parsed(amount) }, beneficiary);
  switch (`${call.standard} ${call.function}`) {
    case 'ERC-20 transfer':
      return moves(text('amount'), text('to'));
    case 'ERC-20 transferFrom':
      return moves(atLeastOne(text('amount')), text('to'));
    case 'ERC-20 approve':
    case 'ERC-2612 permit':
      return moves(atLeastOne(text('amount')), text('spender'));
    case 'ERC-20 increaseAllowance':
      return moves(text('addedAmount'), text('spender'));
    case 'ERC-20 decreaseAllowance':
    case 'WETH9 withdraw':
    // The deposit is the value of the call itself.
    case 'WETH9 deposit':
      return NOTHING;
    case 'ERC-721 safeTransferFrom':
      return moves('1', text('to'));
    case 'ERC-1155 safeTransferFrom':
      return moves(text('amount'), text('to'));
    case 'ERC-721 setApprovalForAll':
      return text('approved') === 'true' ? moves(UINT256_MAX.toString(), text('operator')) : NOTHING;
    default: {
      const named = call.arguments.filter(({ type }) => type === 'address');
      return unreadable(...named.map(({ value }) => String(value)));
    }
  }
}

/**
 * Returns the exposure of an ERC-2612 permit and of an EIP-3009 payment of the wallet, which name
 * one token, one beneficiary and one amount. All other typed data is unreadable, and so is data
 * that names no chain.
 */
function typedStake(message: string, wallet: string): SignedAssets {
  const read = readTypedDataText(message);
  if (!read.ok) return unreadable();
  const chainId = signedChainId(read.value);
  // The rules of the chain on which the signature is valid apply. Those of the vault's chain would
  // let a message on a test network move money of another network beside its limits. Without a
  // chain id no limit is sure to apply: the domain of bridged tokens on Polygon has a salt in its
  // place.
  const bound = chainId === null ? { isUnreadable: true } : { signedFor: `eip155:${chainId}` };
  const authorisation = tokenAuthorisationOf(read.value);
  const contract = canonicalIn(read.value.domain['verifyingContract']);
  if (authorisation === null) return { ...unreadable(...(contract === null ? [] : [contract])), ...bound };
  const { standard, token, owner, beneficiary, amount } = authorisation;
  // No token accepts a payment that its payer has not signed, so this one does not do what it says.
  if (standard === 'EIP-3009' && owner !== wallet) return { ...unreadable(token, beneficiary), ...bound };
  return { ...readable({ tokenAddress: token, amount }, token, beneficiary), ...bound };
}

/**
 * Returns the exposure of a message. What bytes mean is unknown: contracts sign any bytes by
 * EIP-191, and 32 bytes can be the hash of anything.
 */
function spentByMessage(
  { format, message }: Extract<Action, { readonly kind: 'message' }>,
  wallet: string,
): SignedAssets {
  if (format === 'eip712') return typedStake(message, wallet);
  return format === 'eip191-hex' ? unreadable() : NOTHING;
}

function parsed(text: string): Amount {
  return amountOf(BigInt(text));
}
