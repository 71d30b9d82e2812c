import type { ChainRules, FieldRules } from '#chains/chain-rules.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { FieldFault } from '#domain/field-fault.ts';

/**
 * Reads one field by the rules of its chain. A reader adds a fault and returns null when the field
 * is not valid.
 */
export interface FieldReader<R extends FieldRules = ChainRules> {
  readonly rules: R;
  readonly recipient: (text: string, pointer: string) => string | null;
  readonly token: (text: string, pointer: string) => string | null;
  readonly amount: (text: string, pointer: string, least: '0' | '1') => Amount | null;
  readonly fault: (fault: FieldFault) => null;
}

const ADDRESS_DETAILS = {
  malformed: 'Must be an address on this chain.',
  'bad-checksum': 'The checksum is wrong: at least one character is mistyped.',
  'zero-address': 'The zero address is not allowed.',
  'off-curve':
    'The address is program-derived and has no key. Send the address of the wallet, or set recipientMayHaveNoKey if ' +
    'the program is the recipient.',
  'other-network': 'The address belongs to another Bitcoin network.',
} as const;

/** Returns the field reader of a chain, which adds every fault to `faults`. */
export function fieldReader<R extends FieldRules>(rules: R, faults: FieldFault[]): FieldReader<R> {
  const fault = (found: FieldFault) => {
    faults.push(found);
    return null;
  };
  const address = (parsed: ReturnType<ChainRules['parseRecipient']>, pointer: string) =>
    parsed.ok ? parsed.value : fault({ pointer, code: parsed.refusal, detail: ADDRESS_DETAILS[parsed.refusal] });
  return {
    rules,
    fault,
    recipient: (text, pointer) => address(rules.parseRecipient(text), pointer),
    token: (text, pointer) => address(rules.parseToken(text), pointer),
    amount: (text, pointer, least) => {
      const amount = parseAmount(text, rules.largestAmount);
      if (amount !== null && (least === '0' || amount !== '0')) return amount;
      const detail =
        // `least` is 1 for a field that does not accept zero.
        `Must be a whole number of the smallest unit from ${least} to ${rules.largestAmount}, in digits.`;
      return fault({ pointer, code: 'invalid-amount', detail });
    },
  };
}
