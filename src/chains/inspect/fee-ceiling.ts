import { BITCOIN_MAX_FEE_RATE, BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { isKnownChain } from '#chains/inspect/canonical-spelling.ts';
import type { InspectedPayload } from '#chains/inspect/payload.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount } from '#domain/asset/amount.ts';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import { capBySize } from '#domain/wallet/fee-cap.ts';

/**
 * Ours: for an EVM chain that the built-in table does not name, one unit of its native asset. A
 * co-signer's operator who uses such a chain sets the ceiling (MAX_FEES).
 */
const UNKNOWN_CHAIN_CEILING = amountOf(10n ** 18n);

/** CAIP-2 name to the largest fee of one transaction, in the chain's smallest unit. */
export type FeeCeilings = ReadonlyMap<string, Amount>;

/**
 * Returns the ceilings of the setting MAX_FEES: JSON of CAIP-2 name to a decimal amount. Empty text
 * is no setting. Throws for anything else, with the wrong name and never with the content.
 */
export function parseFeeCeilings(text: string): FeeCeilings {
  const ceilings = new Map<string, Amount>();
  const read = text === '' ? {} : parseJsonSetting('MAX_FEES', text);
  if (!isJsonObject(read)) throw new Error('MAX_FEES must be a JSON object.');
  for (const [chain, value] of Object.entries(read)) {
    const amount = typeof value === 'string' ? parseAmount(value) : null;
    if (!isKnownChain(chain) || amount === null) {
      throw new Error(
        `MAX_FEES must map CAIP-2 names to decimal amounts in quotes. The entry of ${chain} is not valid.`,
      );
    }
    ceilings.set(chain, amount);
  }
  return ceilings;
}

/**
 * Reports whether bytes pay more than their size can justify, though less than the ceiling of their
 * chain, which is that of the largest transaction. A ceiling of the operator (MAX_FEES) is not
 * limited by size.
 */
export function exceedsSizeCap(chain: string, payload: InspectedPayload, ceilings: FeeCeilings): boolean {
  if (ceilings.has(chain) || !('virtualSize' in payload)) return false;
  return payload.maxFee > capBySize(BITCOIN_MAX_FEE_RATE, payload.virtualSize);
}

/**
 * Returns the largest fee that a co-signer signs on a chain: its own setting, or the cap of the
 * built-in table. The cap in an intent comes from the coordinator's table of chains. Approvals bind
 * to it, but a signer reads recipient and amount first.
 */
export function feeCeiling(chain: string, ceilings: FeeCeilings): Amount {
  const builtIn = BUILT_IN_CHAINS.find(({ caip2 }) => caip2 === chain)?.maxFee;
  return ceilings.get(chain) ?? parseAmount(builtIn ?? '') ?? UNKNOWN_CHAIN_CEILING;
}
