import { afterListing } from '#domain/activity/listing.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { Chain, ListedToken } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { policyTokensOn } from '#domain/policy/optional-rules.ts';
import { readableOrNull } from '#store/document.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { writeActivity } from '#objects/vault/writes/vault-writes.ts';

/** The maximum number of records that one comparison reads: some hundred kilobytes. */
const MAX_JUDGED_AT_ONCE = 200;
/** The next batch follows after this time. */
const NEXT_BATCH_MS = 60_000;

/**
 * Judges hidden records of a chain again after an operator has listed a token, or the policy has
 * adopted one, the newest first and in batches. The list of tokens is a setting, and no event
 * reports its change, so each comparison of balances compares it with the list of the last
 * judgement.
 */
export function judgeListed(storage: VaultStorage, { chain, rules }: NamedTokens, nowMs: number): void {
  const { activities, balances } = storage;
  const known = knownTokens(chain, rules);
  const listed = known.map(({ address }) => address).toSorted();
  const before = activities.listing(chain.name);
  const isJudged = before !== null && listed.every((address) => before.tokens.includes(address));
  if (isJudged && before.before === null) {
    // A token that is listed again later is judged again.
    if (listed.length < before.tokens.length) activities.putListing(chain.name, { tokens: listed, before: null });
    return;
  }
  const page = activities.page(isJudged ? before.before : null, MAX_JUDGED_AT_ONCE);
  for (const { id, chain: name } of page) {
    // A damaged record must not keep the others, and every comparison, from their end.
    const record = name === chain.name ? readableOrNull(() => activities.read(id), { transactionId: id }) : null;
    if (record === null) continue;
    const after = afterListing(record, known, nowMs);
    if (after !== record) writeActivity(storage, { before: record, after, action: 'judge', actor: null }, chain);
  }
  const isLast = page.length < MAX_JUDGED_AT_ONCE;
  activities.putListing(chain.name, { tokens: listed, before: isLast ? null : (page.at(-1)?.id ?? null) });
  if (!isLast) balances.schedule({ chain: chain.name, ...NATIVE }, nowMs + NEXT_BATCH_MS);
}

/** The tokens of the operator's list and of the policy in force. */
interface NamedTokens {
  readonly chain: Chain;
  readonly rules: OptionalRules;
}

function knownTokens(chain: Chain, rules: OptionalRules): readonly ListedToken[] {
  const adopted = policyTokensOn(rules, chain.caip2).filter(
    ({ tokenAddress }) => listedToken(chain, tokenAddress) === null,
  );
  return [
    ...chain.tokens,
    ...adopted.map(({ tokenAddress, symbol, decimals }) => ({
      address: tokenAddress,
      symbol,
      decimals,
      isCash: false,
    })),
  ];
}
