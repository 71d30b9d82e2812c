import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import type { Permit, PermitGrant } from '#chains/evm/rules/permit.ts';
import { PERMIT2, permitOf } from '#chains/evm/rules/permit.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { PERMITS } from '#chains/inspect/message-warnings.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount, UINT256_MAX, unitsOf } from '#domain/asset/amount.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { nameOf } from '#domain/policy/rules.ts';
import type { Rules } from '#domain/policy/rules.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import type { ContractInteractionIntent, MessageIntent } from '#domain/transaction/intent.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { Fact } from '#review/fact.ts';
import { amountText, chainText, namedToken, timeText } from '#review/fact.ts';

/**
 * Ours: from half of the number space on, an allowance is never used up. Contracts and wallets use
 * several such amounts for an allowance without a limit.
 */
export const UNLIMITED = UINT256_MAX / 2n;

/** Returns the amount of an allowance, with `unlimited` for one that is never used up. */
export function allowanceText(amount: Amount, asset: AssetRef, rules: OptionalRules): string {
  if (unitsOf(amount) <= UNLIMITED || asset.tokenAddress === null) return amountText(amount, asset, rules);
  return unlimitedText(asset, rules);
}

function unlimitedText({ chain, tokenAddress }: AssetRef, rules: OptionalRules): string {
  const token = tokenAddress === null ? null : namedToken(chain, tokenAddress, rules);
  return `unlimited ${token?.symbol ?? 'units of an unknown token'}`;
}

const LABEL = 'Permission';
const UNTIL_REVOKED = 'until the vault revokes it';

/**
 * Returns who may take how much of which token until when, by typed data; nothing for typed data
 * that is no permit by its name. A permit of an unknown form says that its terms are not read.
 */
export function permitFacts(typed: TypedData, { from }: MessageIntent, rules: Rules): readonly Fact[] {
  const permit = permitOf(typed);
  if (permit === null) {
    if (!PERMITS.has(typed.primaryType)) return [];
    return [{ label: LABEL, text: 'A permit that is not exactly of a known form. Who may take what is not read.' }];
  }
  const { contract, isPermit2, spender, grants } = permit;
  const stranger: Fact = {
    label: 'Contract of the permit',
    text: 'Not the known Permit2 contract. Its effect is unknown.',
    address: contract,
  };
  return [
    ...grants.flatMap((grant): readonly Fact[] => [
      { label: LABEL, text: permitText(permit, { grant, from, rules }), address: spender },
      { label: 'Token of the permission', text: 'Contract', address: grant.token },
    ]),
    ...(grants.length === 0 ? [{ label: LABEL, text: 'None. The permit names no token.', address: spender }] : []),
    ...(isPermit2 && contract !== PERMIT2 ? [stranger] : []),
  ];
}

function permitText(
  permit: Permit,
  context: { readonly grant: PermitGrant; readonly from: string; readonly rules: Rules },
): string {
  const { grant, from, rules } = context;
  const { effect, chainId, owner, spender, acceptedUntil } = permit;
  // Without a chain, no list says which token has the address.
  const chain = chainId === null ? '' : `eip155:${chainId}`;
  const who = whoText(chain, spender, rules);
  const payer = owner === null || owner === from ? 'the vault wallet' : `${owner}, which is not the vault wallet`;
  const where = chainId === null ? 'on any chain' : `on ${chainText(chain)}`;
  const asset = { chain, tokenAddress: grant.token };
  const use = acceptedUntil === 'never' ? 'without end' : `until ${secondsText(acceptedUntil)}`;
  const accepted = `The signature can be used ${use}.`;
  if (effect === 'revocation') {
    return `${who} may no longer take ${unitsName(asset, rules)} from ${payer} ${where}. ${accepted}`;
  }
  const what = grant.isUnlimited ? unlimitedText(asset, rules) : amountText(amountOf(grant.units), asset, rules);
  const most = grant.isUnlimited ? what : `at most ${what}`;
  if (effect === 'once') return `${who} may take ${most} from ${payer} ${where}, once. ${accepted}`;
  return `${who} may take ${most} from ${payer} ${where}, ${endText(permit, grant)}. ${accepted}`;
}

function endText({ isPermit2 }: Permit, { ends }: PermitGrant): string {
  if (ends === 'at-once') return 'in the block of its use alone';
  if (ends === 'never') return isPermit2 ? 'without end' : UNTIL_REVOKED;
  return `until ${secondsText(ends)}`;
}

function unitsName({ chain, tokenAddress }: AssetRef, rules: OptionalRules): string {
  const token = tokenAddress === null ? null : namedToken(chain, tokenAddress, rules);
  return token?.symbol ?? 'units of an unknown token';
}

function whoText(chain: string, address: string, rules: Rules): string {
  const name = nameOf(rules, chain, address);
  return name === null ? 'An address that is not in the address book' : `“${visibleText(name)}”`;
}

/** Unix seconds of which `timeText` has the date. */
const MAX_SECONDS = 8_640_000_000_000n;

function secondsText(seconds: bigint): string {
  return timeText(seconds > MAX_SECONDS ? Infinity : Number.parseInt(seconds.toString(), 10) * 1000);
}

/** Returns who may take how much by a call; nothing for a call that gives no permission. */
export function callPermission({ chain, to, data }: ContractInteractionIntent, rules: Rules): readonly Fact[] {
  const call = decodeCall(data);
  if (call === null) return [];
  const argument = (name: string) => String(call.arguments.find((one) => one.name === name)?.value ?? '');
  const factOf = (address: string, text: string): readonly Fact[] => [
    { label: LABEL, text: `${whoText(chain, address, rules)} ${text}.`, address },
  ];
  const asset = { chain, tokenAddress: to };
  const units = (name: string) => {
    const amount = parseAmount(argument(name));
    return amount === null ? 'an unknown amount' : allowanceText(amount, asset, rules);
  };
  switch (`${call.standard} ${call.function}`) {
    case 'ERC-721 setApprovalForAll':
      return argument('approved') === 'true'
        ? factOf(argument('operator'), `may take every token of this collection, unlimited, ${UNTIL_REVOKED}`)
        : factOf(argument('operator'), 'may no longer take every token of this collection');
    case 'ERC-20 approve': {
      // An ERC-721 contract reads the same bytes as the id of a token.
      const isKnown = namedToken(chain, to, rules) !== null;
      const nft = isKnown ? '' : `, or token ${argument('amount')} if the contract is an NFT collection`;
      return argument('amount') === '0'
        ? factOf(
            argument('spender'),
            `may no longer take ${unitsName(asset, rules)}${nft.replace(', or', ', but may take')}`,
          )
        : factOf(argument('spender'), `may take ${units('amount')} from the vault wallet, ${UNTIL_REVOKED}${nft}`);
    }
    case 'ERC-20 increaseAllowance':
      return factOf(
        argument('spender'),
        `may take ${units('addedAmount')} more than before from the vault wallet, ${UNTIL_REVOKED}`,
      );
    case 'ERC-20 decreaseAllowance':
      return factOf(
        argument('spender'),
        `may take ${units('subtractedAmount')} less than before from the vault wallet`,
      );
    case 'ERC-2612 permit':
      return factOf(argument('spender'), `may take ${units('amount')} from ${argument('owner')}, ${UNTIL_REVOKED}`);
    default:
      return [];
  }
}
