/**
 * Attack: the coordinator shows signers a limit or an address book whose addresses are spelled
 *   differently, so that the rule seems correct and binds nothing.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.10
 * Defence: co-signers refuse a policy with an unknown chain or with an address that is not in its
 *   canonical spelling.
 */
import { describe, expect, test } from 'vitest';
import { Malformed } from '#cosigner/request-parser.ts';
import { policyWithMandateOf } from '#cosigner/signed-document.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { amount, policy } from '../../../domain/cast.ts';

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const REGTEST = 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328';
const SEGWIT = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

function read(rules: Partial<Rules>): string {
  const sent: Policy = { ...policy, rules: { ...NO_RULES, ...rules } };
  try {
    policyWithMandateOf(encodePolicy({ policy: sent, mandate: null }));
    return 'read';
  } catch (error) {
    if (error instanceof Malformed) return 'malformed';
    throw error;
  }
}

const limit = (chain: string, tokenAddress: string | null) =>
  read({ limits: [{ chain, tokenAddress, perTransaction: amount('1'), perDay: null }] });
const entry = (chain: string, address: string) => read({ addressBook: [{ chain, address, name: 'Landlord' }] });
const step = (chain: string, tokenAddress: string | null) =>
  read({ higherThresholds: [{ chain, tokenAddress, above: amount('1'), threshold: 2 }] });

describe.each([
  ['a limit', limit],
  ['a higher threshold', step],
])('%s', (_name, rule) => {
  test('an asset is read in its one canonical spelling', () => {
    expect([rule('eip155:1', TOKEN), rule('eip155:1', null)]).toEqual(['read', 'read']);
    expect([rule(SOLANA, MINT), rule(SOLANA, null), rule(REGTEST, null)]).toEqual(['read', 'read', 'read']);
  });

  test.each([
    ['lower case', 'eip155:1', TOKEN.toLowerCase()],
    ['upper case', 'eip155:1', `0x${TOKEN.slice(2).toUpperCase()}`],
    ['a space', 'eip155:1', `${TOKEN} `],
    ['no address', 'eip155:1', 'USDC'],
    ['the empty text', 'eip155:1', ''],
    ['a chain by its name', 'ethereum', TOKEN],
    ['a chain with a leading zero', 'eip155:01', TOKEN],
    ['a chain of an unknown family', 'cosmos:cosmoshub-4', null],
    ['no cluster', 'solana:mainnet', null],
    ['an EVM token on Solana', SOLANA, TOKEN],
    ['a token on Bitcoin', REGTEST, SEGWIT],
  ])('an asset in another spelling is refused: %s', (_what, chain, token) => {
    expect(rule(chain, token)).toBe('malformed');
  });
});

describe('an entry of the address book', () => {
  test('an address book entry is read in the one canonical spelling of its address', () => {
    expect([entry('eip155:1', TOKEN), entry(SOLANA, MINT), entry(REGTEST, SEGWIT)]).toEqual(['read', 'read', 'read']);
  });

  test.each([
    ['lower case', 'eip155:1', TOKEN.toLowerCase()],
    ['upper case of bech32', REGTEST, SEGWIT.toUpperCase()],
    ['an address of another network', REGTEST, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['a Solana address with a character more', SOLANA, `${MINT}1`],
    ['a chain by its name', 'ethereum', TOKEN],
  ])('an address book entry in another spelling is refused: %s', (_what, chain, address) => {
    expect(entry(chain, address)).toBe('malformed');
  });
});

test('a fee cap of a policy must name a chain of a known family', () => {
  const capped = (chain: string) => read({ maxFees: [{ chain, amount: amount('1') }] });
  expect([capped('eip155:1'), capped('ethereum'), capped('eip155:01')]).toEqual(['read', 'malformed', 'malformed']);
});
