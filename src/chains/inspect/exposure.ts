import type { DecodedCall } from '#chains/evm/rules/decode-call.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { parseAddress } from '#chains/evm/rules/address.ts';
import { isUnboundMessage } from '#chains/evm/rules/message.ts';
import { readTypedData } from '#chains/evm/rules/typed-data.ts';
import { amountOf, parseAmount, UINT256_MAX } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Exposure, AssetAmount } from '#domain/transaction/exposure.ts';
import type { Action } from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

type SpentAssets = Omit<Exposure, 'chain'>;

/** No movement and no beneficiary. */
const NOTHING: SpentAssets = { movements: [], beneficiaries: [], isUnreadable: false };

/**
 * Returns what an action puts at risk. Anything that is not decoded completely is unreadable, never
 * nothing: a rule that cannot be applied must not pass.
 *
 * @param context the chain (CAIP-2) and the acting wallet, which is no beneficiary of its own
 * action; and the largest fee
 */
export function exposureOf(
  action: Action,
  context: { readonly chain: string; readonly from: string; readonly maxFee?: Amount },
): Exposure {
  const stake = spentAssetsOf(action);
  const beneficiaries = stake.beneficiaries.filter((address) => address !== context.from);
  const fee = context.maxFee === undefined ? {} : { fee: context.maxFee };
  return { ...stake, chain: context.chain, beneficiaries, ...fee };
}

function spentAssetsOf(action: Action): SpentAssets {
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
      const stake = action.format === 'eip712' ? typedStake(action.message) : NOTHING;
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
 * Returns the exposure of an ERC-2612 permit, which names one token, one spender and one amount.
 * All other typed data is unreadable.
 */
function typedStake(message: string): SpentAssets {
  const read = readTypedData(parsedJson(message));
  if (!read.ok) return unreadable();
  const { primaryType, types, domain, message: permit } = read.value;
  const contract = addressIn(domain['verifyingContract']);
  if (contract === null) return unreadable();
  const fields = (types[primaryType] ?? []).map(({ name, type }) => `${type} ${name}`).join();
  const spender = addressIn(permit['spender']);
  const value = String(permit['value']);
  const amount = parseAmount(/^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value).toString() : value);
  if (primaryType !== 'Permit' || fields !== ERC2612_PERMIT || spender === null || amount === null) {
    return unreadable(contract);
  }
  return readable({ tokenAddress: contract, amount }, contract, spender);
}

const ERC2612_PERMIT = 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline';

function addressIn(value: unknown): string | null {
  const read = typeof value === 'string' ? parseAddress(value) : null;
  return read?.ok === true ? read.value : null;
}

/** Text that is no JSON is no typed data either. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function parsed(text: string): Amount {
  return amountOf(BigInt(text));
}
