import { afterPricing } from '#domain/activity/listing.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Price } from '#domain/asset/price.ts';
import { unitsOfOneDollar } from '#domain/asset/price.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import { readableOrNull } from '#store/document.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { writeActivity } from '#objects/vault/writes/vault-writes.ts';

/** The maximum number of records of an asset that one comparison reads. The next one goes on. */
const MAX_JUDGED_AT_ONCE = 20;

/** An asset as a valuation has it; the native one has no address. */
interface Valued {
  readonly tokenAddress: string | null;
  readonly decimals: number | null;
  readonly price: Price;
}

/**
 * Judges records again that an earlier price hid as low value, by the prices of the compared
 * assets. No record is polled for it.
 */
export function judgePriced(storage: VaultStorage, chain: Chain, { valuation, nowMs }: Pricing): void {
  const tokens = valuation.tokens.map(({ address, ...token }) => ({ ...token, tokenAddress: address }));
  const assets: readonly Valued[] = [{ ...valuation.native, tokenAddress: null }, ...tokens];
  for (const { tokenAddress, decimals, price } of assets) {
    const units = price.state === 'known' && decimals !== null ? unitsOfOneDollar(decimals, price.usdE12) : null;
    if (units === null) continue;
    for (const id of storage.activities.hiddenByValue(chain.name, { tokenAddress, units }, MAX_JUDGED_AT_ONCE)) {
      const record = readableOrNull(() => storage.activities.read(id), { transactionId: id });
      if (record === null) continue;
      const after = afterPricing(record, valuation, nowMs);
      if (after !== record) writeActivity(storage, { before: record, after, action: 'judge', actor: null }, chain);
    }
  }
}

interface Pricing {
  readonly valuation: Valuation;
  readonly nowMs: number;
}
