import { parseAddress } from '#chains/evm/rules/address.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { integerOf } from '#chains/evm/rules/typed-data.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';

/**
 * Typed data by which another account moves tokens of the signer: an allowance (ERC-2612) or a
 * payment (EIP-3009). All addresses are in canonical spelling.
 */
export interface TokenAuthorisation {
  readonly standard: 'ERC-2612' | 'EIP-3009';
  readonly token: string;
  /** The account whose tokens move. */
  readonly owner: string;
  /** The spender, or the recipient of the payment. */
  readonly beneficiary: string;
  readonly amount: Amount;
}

interface Form {
  readonly standard: TokenAuthorisation['standard'];
  /** The members in their order. Another order has another hash, which no token accepts. */
  readonly members: string;
  readonly owner: string;
  readonly beneficiary: string;
}

const PAYMENT: Form = {
  standard: 'EIP-3009',
  members: 'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce',
  owner: 'from',
  beneficiary: 'to',
};

const FORMS: ReadonlyMap<string, Form> = new Map([
  [
    'Permit',
    {
      standard: 'ERC-2612',
      members: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline',
      owner: 'owner',
      beneficiary: 'spender',
    },
  ],
  ['TransferWithAuthorization', PAYMENT],
  ['ReceiveWithAuthorization', PAYMENT],
]);

/** Reports whether the primary type is one of EIP-3009 that moves tokens, whatever its members. */
export function isNamedPayment(primaryType: string): boolean {
  return FORMS.get(primaryType)?.standard === 'EIP-3009';
}

/** Returns what typed data authorises, or null when it is not exactly of one of the standards. */
export function tokenAuthorisationOf({ primaryType, types, domain, message }: TypedData): TokenAuthorisation | null {
  const form = FORMS.get(primaryType);
  const members = (types[primaryType] ?? []).map(({ name, type }) => `${type} ${name}`).join();
  if (form === undefined || members !== form.members) return null;
  const token = canonicalIn(domain['verifyingContract']);
  const owner = canonicalIn(message[form.owner]);
  const beneficiary = canonicalIn(message[form.beneficiary]);
  const units = integerOf('uint256', message['value']);
  if (token === null || owner === null || beneficiary === null || units === null) return null;
  return { standard: form.standard, token, owner, beneficiary, amount: amountOf(units) };
}

/** Returns the canonical spelling of a value that is an address, otherwise null. */
export function canonicalIn(value: unknown): string | null {
  const read = typeof value === 'string' ? parseAddress(value) : null;
  return read?.ok === true ? read.value : null;
}
