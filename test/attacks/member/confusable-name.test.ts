/**
 * Attack: a member adds a second name to the address book that looks like a known one, and later
 *   requests a payment to it.
 * Attacker: member
 * Co-signers: 0
 * Finding: N6
 * Defence: names are compared after folding look-alike letters, capitals, accents and spaces. The
 *   service refuses a twin, devices warn of it, and new payees always stand beside the button.
 */
import { expect, test } from 'vitest';
import { confusables } from '#chains/inspect/confusable.ts';
import { parsePolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { describeChange } from '#review/describe-change.ts';
import { policyOf, SUPPLIER, THIEF } from '../../approval-page/request-scene.ts';

const id = parsePolicyChangeId('pch_01J00000000000000000000003');
if (id === null) throw new Error('the id is valid');
const mandate = { id, note: null, createdAtMs: 0, expiresAtMs: 1, policyHash: '00'.repeat(32) };
const CHAIN = 'eip155:1';

/** Returns the policy with these names in its address book, the first for the supplier. */
function withNames(...names: readonly string[]): Policy {
  const base = policyOf();
  const addresses = [SUPPLIER, THIEF];
  const addressBook = names.map((name, i) => ({ chain: CHAIN, address: addresses[i] ?? `0x${i}`, name }));
  return { ...base, rules: { ...base.rules, addressBook } };
}

const TWINS = {
  'a Cyrillic letter': 'Kr\u0430ken',
  'a space at the end': 'Kraken ',
  'capitals alone': 'KRAKEN',
  'fullwidth letters': '\uFF2Braken',
  'a combining dot': 'Kraken\u0323',
  'an invisible character': 'Kra\u200Bken',
};

test.each(Object.entries(TWINS))('a name with %s is a twin of a known one', (_what, twin) => {
  expect(confusables(['Landlord', 'Kraken', twin])).toEqual(['Kraken', twin]);
  const { warnings } = describeChange(mandate, withNames('Kraken'), withNames('Kraken', twin));
  expect(warnings.join(' ')).toContain('look alike');
  const moved = describeChange(mandate, withNames('Kraken'), withNames('Other', twin));
  expect(moved.warnings.join(' ')).toContain('stands for another address');
});

test('one name on two chains, and names of other letters, are no twins', () => {
  expect(confusables(['Kraken', 'Kraken', 'Krake', '\u{1F3E6}', '\u{1F4B0}', '支付', '支出'])).toBeNull();
});

test('many changes do not hide a new payee, a new signer or a new device', () => {
  const others = Array.from({ length: 10 }, (_, i) => `Supplier number ${'abcdefghij'[i]}`);
  const { essentials } = describeChange(mandate, withNames('Kraken'), withNames('Kraken', 'Thief', ...others));
  expect(essentials[0]?.text).toBe('11, listed above');
  expect(essentials.map(({ text }) => text).join(' ')).toContain(`“Thief” is ${THIEF}`);
  expect(essentials).toHaveLength(12);
});
