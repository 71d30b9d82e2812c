import { signedChainId } from '#chains/evm/rules/message.ts';
import { canonicalIn } from '#chains/evm/rules/token-authorisation.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { integerOf } from '#chains/evm/rules/typed-data.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** The contract that has this address on every chain where Uniswap deployed it. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** What a permit allows for one token. All addresses are in canonical spelling. */
export interface PermitGrant {
  readonly token: string;
  readonly units: bigint;
  /** `units` has the largest value of its type, which contracts treat as no limit. */
  readonly isUnlimited: boolean;
  /** Unix seconds, `never`, or `at-once` for an allowance that ends in the block of its use. */
  readonly ends: bigint | 'never' | 'at-once';
}

/** The terms of typed data that is exactly a permit of one of the known forms. */
export interface Permit {
  /** `once`: one payment. `revocation`: DAI's permit with `allowed: false`. */
  readonly effect: 'allowance' | 'once' | 'revocation';
  readonly isPermit2: boolean;
  /** The contract that the domain names. It reads the permit. */
  readonly contract: string;
  /** Decimal; null when the domain names no chain. */
  readonly chainId: string | null;
  /** Null for Permit2, which takes the signer. */
  readonly owner: string | null;
  readonly spender: string;
  readonly grants: readonly PermitGrant[];
  /** Unix seconds until which the signature is accepted, or `never` for no such end. */
  readonly acceptedUntil: bigint | 'never';
}

type Terms = Pick<Permit, 'effect' | 'owner' | 'acceptedUntil'> & { readonly grants: readonly (PermitGrant | null)[] };

interface Form {
  /** The members in their order. Another order or a further member has another hash. */
  readonly members: string;
  /** The struct that the members name, and its members. */
  readonly inner?: readonly [name: string, members: string];
  readonly isPermit2: boolean;
  /** Null for a value that does not fit. */
  readonly terms: (message: TypedData['message'], contract: string) => Terms | null;
}

const DETAILS = ['PermitDetails', 'address token,uint160 amount,uint48 expiration,uint48 nonce'] as const;
const PERMISSIONS = ['TokenPermissions', 'address token,uint256 amount'] as const;

const FORMS: Readonly<Record<string, readonly Form[]>> = {
  Permit: [
    {
      members: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline',
      isPermit2: false,
      terms: ({ owner, value, deadline }, token) => {
        const until = timeIn('uint256', deadline);
        const grants = [grantOf(token, { type: 'uint256', value, ends: 'never' })];
        return until === null ? null : { effect: 'allowance', owner: canonicalIn(owner), acceptedUntil: until, grants };
      },
    },
    {
      members: 'address holder,address spender,uint256 nonce,uint256 expiry,bool allowed',
      isPermit2: false,
      terms: ({ holder, expiry, allowed }, token) => {
        const until = timeIn('uint256', expiry);
        if (until === null) return null;
        const units = allowed === true ? mostOf('uint256').toString() : '0';
        return {
          effect: allowed === true ? 'allowance' : 'revocation',
          owner: canonicalIn(holder),
          // DAI reads 0 as no end.
          acceptedUntil: until === 0n ? 'never' : until,
          grants: [grantOf(token, { type: 'uint256', value: units, ends: 'never' })],
        };
      },
    },
  ],
  PermitSingle: [allowances('PermitDetails details')],
  PermitBatch: [allowances('PermitDetails[] details')],
  PermitTransferFrom: [payments('TokenPermissions permitted')],
  PermitBatchTransferFrom: [payments('TokenPermissions[] permitted')],
};

function allowances(details: string): Form {
  return {
    members: `${details},address spender,uint256 sigDeadline`,
    inner: DETAILS,
    isPermit2: true,
    terms: ({ details: permissions, sigDeadline }) => {
      const until = timeIn('uint256', sigDeadline);
      const grants = listOf(permissions).map(({ token, amount, expiration }) => {
        const ends = timeIn('uint48', expiration);
        // Permit2 puts the time of the block in the place of 0.
        if (ends === null) return null;
        return grantOf(token, { type: 'uint160', value: amount, ends: ends === 0n ? 'at-once' : ends });
      });
      return until === null ? null : { effect: 'allowance', owner: null, acceptedUntil: until, grants };
    },
  };
}

function payments(permitted: string): Form {
  return {
    members: `${permitted},address spender,uint256 nonce,uint256 deadline`,
    inner: PERMISSIONS,
    isPermit2: true,
    terms: ({ permitted: permissions, deadline }) => {
      const until = timeIn('uint256', deadline);
      if (until === null) return null;
      const grants = listOf(permissions).map(({ token, amount }) =>
        grantOf(token, { type: 'uint256', value: amount, ends: until }),
      );
      return { effect: 'once', owner: null, acceptedUntil: until, grants };
    },
  };
}

/**
 * Returns the terms of a permit, or null for typed data that is not exactly of a known form. The
 * data has the form of `readTypedData`.
 */
export function permitOf(typed: TypedData): Permit | null {
  const { primaryType, types, domain, message } = typed;
  const membersOf = (name: string) => (types[name] ?? []).map((member) => `${member.type} ${member.name}`).join();
  const forms = Object.hasOwn(FORMS, primaryType) ? (FORMS[primaryType] ?? []) : [];
  const form = forms.find(({ members }) => members === membersOf(primaryType));
  if (form === undefined) return null;
  if (form.inner !== undefined && membersOf(form.inner[0]) !== form.inner[1]) return null;
  const contract = canonicalIn(domain['verifyingContract']);
  const spender = canonicalIn(message['spender']);
  const terms = contract === null ? null : form.terms(message, contract);
  if (contract === null || spender === null || terms === null) return null;
  const { effect, owner, acceptedUntil } = terms;
  const grants = terms.grants.filter((grant) => grant !== null);
  if (grants.length !== terms.grants.length || (!form.isPermit2 && owner === null)) return null;
  const { isPermit2 } = form;
  const chainId = signedChainId(typed)?.toString() ?? null;
  return { effect, isPermit2, contract, chainId, owner, spender, grants, acceptedUntil };
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return (Array.isArray(value) ? value : [value]).map((one: unknown) => (isJsonObject(one) ? one : {}));
}

function grantOf(
  token: unknown,
  { type, value, ends }: Pick<PermitGrant, 'ends'> & { readonly type: string; readonly value: unknown },
): PermitGrant | null {
  const [address, units] = [canonicalIn(token), integerOf(type, value)];
  if (address === null || units === null) return null;
  return { token: address, units, isUnlimited: units === mostOf(type), ends };
}

/** Returns Unix seconds; `never` for the largest value of the type; null for no integer. */
function timeIn(type: string, value: unknown): bigint | 'never' | null {
  const seconds = integerOf(type, value);
  return seconds === mostOf(type) ? 'never' : seconds;
}

function mostOf(type: string): bigint {
  return 2n ** BigInt(type.slice('uint'.length)) - 1n;
}
