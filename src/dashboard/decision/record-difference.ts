import type { Transaction } from '#dashboard/api.ts';
import type { Asset } from '#dashboard/amounts/asset-name.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { nameOf } from '#domain/policy/rules.ts';
import { policyToken } from '#domain/policy/optional-rules.ts';
import { chainNamed, knownChain, namedToken } from '#review/fact.ts';
import type { VerifiedRequest } from '#review/verified-request.ts';

/** The fields of a record that the bytes of its transaction fix. */
type Bound = Pick<
  Transaction,
  | 'id'
  | 'vaultId'
  | 'kind'
  | 'chain'
  | 'from'
  | 'to'
  | 'spender'
  | 'amount'
  | 'asset'
  | 'maxFee'
  | 'feeAsset'
  | 'data'
  | 'memo'
  | 'note'
  | 'message'
  | 'messageFormat'
  | 'foreignChainId'
  | 'paysFor'
  | 'maxTokenFee'
  | 'lookalikeOf'
  | 'policyVersion'
  | 'digest'
  | 'expiresAt'
  | 'notAfter'
  | 'knownAs'
>;

/** The same fields as the bytes have them; a field that a kind of transaction lacks is null. */
interface Approved extends Partial<Record<keyof Bound, string | number | null>> {
  readonly tokenAddress: string | null;
}

/**
 * Returns the name of the first field in which a record differs from the transaction that is
 * approved, or null. A field that no signature binds, such as its author, is not compared.
 */
export function differenceOf(record: Bound, review: VerifiedRequest): string | null {
  if (review.subject.kind !== 'intent') return 'kind';
  const { intent } = review.subject;
  const { tokenAddress, ...approved } = approvedFields(intent);
  for (const [name, value] of Object.entries(approved)) {
    if (record[name as keyof Bound] !== value) return NAMES[name] ?? name;
  }
  if (record.digest !== review.digest) return 'digest';
  // A chain of this build has one name. A chain of the operator has none of those names.
  if (chainNamed(record.chain)?.caip2 !== knownChain(intent.chain)?.caip2) return 'chain';
  if (record.asset !== null && record.asset.tokenAddress !== tokenAddress) return 'token';
  if (record.asset !== null && !isNamedRightly(record.asset, review)) return 'symbol or number of decimals';
  if (!isNamedRightly(record.feeAsset, review)) return 'coin for the fee';
  const isContact = ({ address, name }: Bound['knownAs'][number]) =>
    nameOf(review.inForce.rules, intent.chain, address) === name;
  return record.knownAs.every(isContact) ? null : 'contact';
}

const NAMES: Readonly<Record<string, string>> = {
  id: 'transaction',
  vaultId: 'vault',
  from: 'sender',
  to: 'recipient',
  maxFee: 'maximum fee',
  messageFormat: 'format of the message',
  foreignChainId: 'chain of the message',
  paysFor: 'accelerated transaction',
  maxTokenFee: 'token fee',
  lookalikeOf: 'similar address',
  policyVersion: 'policy',
  expiresAt: 'expiry',
  notAfter: 'last time',
};

function approvedFields(intent: Intent): Approved {
  const frame = {
    id: intent.transactionId,
    vaultId: intent.vaultId,
    kind: intent.kind,
    from: intent.from,
    note: intent.note,
    policyVersion: intent.policyVersion,
    expiresAt: timeOf(intent.expiresAtMs),
  };
  const nothing = {
    to: null,
    spender: null,
    amount: null,
    data: null,
    memo: null,
    maxFee: null,
    notAfter: null,
    paysFor: null,
    maxTokenFee: null,
    lookalikeOf: null,
    message: null,
    messageFormat: null,
    foreignChainId: null,
    tokenAddress: null,
  };
  if (intent.kind === 'message') {
    const { message, format: messageFormat, foreignChainId = null } = intent;
    return { ...nothing, ...frame, message, messageFormat, foreignChainId };
  }
  const { maxFee, lookalikeOf, notAfterMs } = intent;
  const bound = { maxFee, lookalikeOf, notAfter: notAfterMs === undefined ? null : timeOf(notAfterMs) };
  switch (intent.kind) {
    case 'transfer': {
      const { to, amount, tokenAddress, memo = null, paysFor = null, maxTokenFee = null } = intent;
      return { ...nothing, ...frame, ...bound, to, amount, tokenAddress, memo, paysFor, maxTokenFee };
    }
    case 'contract-interaction': {
      const { to, value: amount, data } = intent;
      return { ...nothing, ...frame, ...bound, to, amount, data };
    }
    case 'erc20-approve': {
      const { tokenAddress, spender, amount } = intent;
      return { ...nothing, ...frame, ...bound, to: tokenAddress, tokenAddress, spender, amount };
    }
  }
}

/** The API rounds nothing, so the texts of equal times are equal. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Reports whether symbol and decimals are those of the source that an asset names. A list of the
 * operator is known to the service alone, so there only tokens of this build are compared.
 */
function isNamedRightly(asset: Asset, { subject, inForce }: VerifiedRequest): boolean {
  const caip2 = subject.kind === 'intent' ? subject.intent.chain : '';
  const { tokenAddress, symbol, decimals, trust } = asset;
  if (tokenAddress === null) {
    const chain = knownChain(caip2);
    const isSame = chain === null || (chain.nativeSymbol === symbol && chain.nativeDecimals === decimals);
    return trust === 'native' && isSame;
  }
  const known = namedToken(caip2, tokenAddress, inForce.rules);
  const adopted = policyToken(inForce.rules, caip2, tokenAddress);
  if (trust === 'native' || (trust === 'policy') !== (adopted !== null)) return false;
  if (known === null) return true;
  const isNamed = symbol === known.symbol || symbol === adopted?.symbol;
  return trust !== 'unlisted' && decimals === known.decimals && isNamed;
}
