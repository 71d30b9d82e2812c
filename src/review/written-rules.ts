import { confusables } from '#chains/inspect/confusable.ts';
import { impersonatedSymbol } from '#chains/inspect/token-impersonation.ts';
import type { FieldReader } from '#chains/families/field-reader.ts';
import { fieldReader } from '#chains/families/field-reader.ts';
import { findChain } from '#chains/families/registry.ts';
import type { FieldRules } from '#chains/chain-rules.ts';
import { fieldRulesFor } from '#chains/families/field-rules.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import type { UserId } from '#domain/id.ts';
import { parseUserId } from '#domain/id.ts';
import type { FeeCap, OptionalRules, PolicyToken } from '#domain/policy/optional-rules.ts';
import type { AddressBookEntry, AssetLimit, HigherThreshold, Rules } from '#domain/policy/rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';

/** Rules as a person or a program writes them: chains by name, addresses and amounts as text. */
export interface WrittenRules extends Unnamed<Omit<OptionalRules, 'maxFees' | 'tokens' | 'excludedMembers'>> {
  readonly recipients?: Rules['recipients'] | undefined;
  readonly addressBook?:
    | readonly { readonly chain: string; readonly address: string; readonly name: string }[]
    | undefined;
  readonly limits?:
    | readonly (WrittenAsset & {
        readonly perTransaction?: string | null | undefined;
        readonly perDay?: string | null | undefined;
      })[]
    | undefined;
  readonly higherThresholds?:
    | readonly (WrittenAsset & { readonly above: string; readonly threshold: number })[]
    | undefined;
  readonly unreadableThreshold?: number | null | undefined;
  readonly maxFees?: readonly { readonly chain: string; readonly amount: string }[] | undefined;
  readonly tokens?: readonly PolicyToken[] | undefined;
  readonly excludedMembers?: readonly string[] | undefined;
}

interface WrittenAsset {
  readonly chain: string;
  readonly tokenAddress?: string | null | undefined;
}

type Unnamed<T> = { readonly [K in keyof T]: T[K] | undefined };

/**
 * Returns the rules, normalised by their chains, or all faults of the rules. The service and the
 * form for a policy change read rules with it.
 */
export function readRules(chains: readonly Chain[], body: WrittenRules): Result<Partial<Rules>, readonly FieldFault[]> {
  const faults: FieldFault[] = [];
  const readers = (name: string, pointer: string) => readerOn(chains, { name, pointer }, faults);
  const addressBook = body.addressBook?.flatMap((entry, i): AddressBookEntry[] => {
    const pointer = `/addressBook/${i}`;
    const reader = readers(entry.chain, pointer);
    const read = reader?.recipient(entry.address, `${pointer}/address`) ?? null;
    return reader === null || read === null ? [] : [{ chain: reader.chain, address: read, name: entry.name }];
  });
  faults.push(
    ...nameFaults(
      (addressBook ?? []).map(({ name }) => name),
      body,
    ),
  );
  const limits = body.limits?.flatMap((limit, i): AssetLimit[] => {
    const pointer = `/limits/${i}`;
    const reader = readers(limit.chain, pointer);
    const asset = readAsset(reader, limit.tokenAddress, pointer);
    const [most, perDay] = [limit.perTransaction ?? null, limit.perDay ?? null];
    const bound = (text: string | null, field: string): Amount | null =>
      text === null || reader === null ? null : reader.amount(text, `${pointer}/${field}`, '0');
    const bounds = { perTransaction: bound(most, 'perTransaction'), perDay: bound(perDay, 'perDay') };
    return asset === null ? [] : [{ ...asset, ...bounds }];
  });
  const higherThresholds = body.higherThresholds?.flatMap((step, i): HigherThreshold[] => {
    const pointer = `/higherThresholds/${i}`;
    const reader = readers(step.chain, pointer);
    const asset = readAsset(reader, step.tokenAddress, pointer);
    const above = reader?.amount(step.above, `${pointer}/above`, '0') ?? null;
    return asset === null || above === null ? [] : [{ ...asset, above, threshold: step.threshold }];
  });
  const maxFees = body.maxFees?.flatMap((cap, i): FeeCap[] => {
    const pointer = `/maxFees/${i}`;
    const reader = readers(cap.chain, pointer);
    const read = reader?.amount(cap.amount, `${pointer}/amount`, '0') ?? null;
    return reader === null || read === null ? [] : [{ chain: reader.chain, amount: read }];
  });
  const tokens = body.tokens?.flatMap(({ symbol, decimals, ...token }, i): PolicyToken[] => {
    const pointer = `/tokens/${i}`;
    const reader = readers(token.chain, pointer);
    const tokenAddress = reader?.token(token.tokenAddress, `${pointer}/tokenAddress`) ?? null;
    return reader === null || tokenAddress === null ? [] : [{ chain: reader.chain, tokenAddress, symbol, decimals }];
  });
  const excludedMembers = body.excludedMembers?.flatMap((text, i) => readUser(text, `/excludedMembers/${i}`, faults));
  // An entry without an address is a fault already, and the others keep their positions without it.
  if (faults.length === 0) faults.push(...tokenFaults(tokens ?? [], chains));
  if (faults.length > 0) return refused(faults);
  return accepted({
    ...optionalRules(body),
    ...(tokens === undefined ? {} : { tokens }),
    ...(excludedMembers === undefined ? {} : { excludedMembers }),
    ...(maxFees === undefined ? {} : { maxFees }),
    ...(body.recipients === undefined ? {} : { recipients: body.recipients }),
    ...(addressBook === undefined ? {} : { addressBook }),
    ...(limits === undefined ? {} : { limits }),
    ...(higherThresholds === undefined ? {} : { higherThresholds }),
    ...(body.unreadableThreshold === undefined ? {} : { unreadableThreshold: body.unreadableThreshold }),
  });
}

/** Returns the fault of a name in the address book that looks like an earlier one. */
function nameFaults(names: readonly string[], { addressBook }: WrittenRules): readonly FieldFault[] {
  const alike = confusables(names);
  if (alike === null) return [];
  const [known, twin] = alike;
  const pointer = `/addressBook/${addressBook?.findIndex(({ name }) => name === twin) ?? 0}/name`;
  const detail = `Looks like the name '${known}' of another entry. Signers would confuse the two.`;
  return [{ pointer, code: 'invalid', detail }];
}

function readUser(text: string, pointer: string, faults: FieldFault[]): readonly UserId[] {
  const userId = parseUserId(text);
  if (userId !== null) return [userId];
  faults.push({ pointer, code: 'invalid', detail: 'Must be the id of a user.' });
  return [];
}

/** Returns the rules in a body that depend on no chain. */
function optionalRules(body: WrittenRules): OptionalRules {
  const { signOnce, limitsIncludeFees, requiredDevice, unboundMessages, rejections } = body;
  return {
    ...(signOnce === undefined ? {} : { signOnce }),
    ...(limitsIncludeFees === undefined ? {} : { limitsIncludeFees }),
    ...(requiredDevice === undefined ? {} : { requiredDevice }),
    ...(unboundMessages === undefined ? {} : { unboundMessages }),
    ...(rejections === undefined ? {} : { rejections }),
  };
}

interface ChainReader extends FieldReader<FieldRules> {
  /** CAIP-2. */
  readonly chain: string;
}

function readerOn(
  chains: readonly Chain[],
  { name, pointer }: { readonly name: string; readonly pointer: string },
  faults: FieldFault[],
): ChainReader | null {
  const found = findChain(chains, name);
  if (found === null) {
    faults.push({ pointer: `${pointer}/chain`, code: 'unknown-chain', detail: 'The chain is not known.' });
    return null;
  }
  return { ...fieldReader(fieldRulesFor(found), faults), chain: found.caip2 };
}

function readAsset(reader: ChainReader | null, token: string | null | undefined, pointer: string): AssetRef | null {
  if (reader === null) return null;
  if (token == null) return { chain: reader.chain, tokenAddress: null };
  const tokenAddress = reader.token(token, `${pointer}/tokenAddress`);
  return tokenAddress === null ? null : { chain: reader.chain, tokenAddress };
}

/**
 * Returns the faults of tokens that signers would confuse: a symbol that looks like the one of
 * another token of the policy, of the native asset, or of another token of the operator's list.
 * A listed token keeps its decimals.
 *
 * @param tokens in the order of the body, so that a fault names its entry
 */
function tokenFaults(tokens: readonly PolicyToken[], chains: readonly Chain[]): readonly FieldFault[] {
  return tokens.flatMap(({ chain: caip2, tokenAddress, symbol, decimals }, i): FieldFault[] => {
    const chain = findChain(chains, caip2);
    if (chain === null) return [];
    const listed = listedToken(chain, tokenAddress);
    if (listed !== null && listed.decimals !== decimals) {
      const detail = `The operator's list has ${listed.decimals} decimals for this token.`;
      return [{ pointer: `/tokens/${i}/decimals`, code: 'invalid', detail }];
    }
    const others = [
      ...chain.tokens.filter(({ address }) => address !== tokenAddress).map((one) => one.symbol),
      ...tokens.flatMap((one, k) => (k < i && one.chain === caip2 ? [one.symbol] : [])),
      chain.nativeSymbol,
    ];
    const twin = impersonatedSymbol(symbol, others);
    if (twin === null) return [];
    const detail = `Looks like ${twin}, which is another asset on ${chain.name}. Choose a symbol that differs.`;
    return [{ pointer: `/tokens/${i}/symbol`, code: 'invalid', detail }];
  });
}
