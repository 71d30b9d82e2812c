/**
 * Attack: an approved payment of 1 wei has a fee cap of 10 ETH, which no spending limit counts, and
 *   a block builder of the thief collects the fee.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.9
 * Defence: each co-signer has its own fee ceiling for each chain, fees count toward limits of the
 *   native asset, and a policy can cap them.
 */
import { describe, expect, test } from 'vitest';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import { feeCeiling, parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { alice, amount, bob, policy } from '../../../domain/cast.ts';
import { answer, intent, QUOTE, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';

const TEN_ETHER = 10n * 10n ** 18n;
const price = TEN_ETHER / 21_000n;
const dear = { ...intent, amount: amount('1'), maxFee: amount(TEN_ETHER.toString()) };
const quote = {
  ...QUOTE,
  maxFeePerGas: price.toString(),
  maxPriorityFeePerGas: price.toString(),
  maxFee: amount((21_000n * price).toString()),
};

function send(rules: Rules = NO_RULES) {
  const governed = { ...policy, rules };
  const named = { ...dear, policyHash: policyHashOf(governed) };
  const payload = composeTransaction(named, quote, 4n).payload;
  return { sent: request({ payload, approvals: approvalsBy(named, alice, bob) }, named), governed };
}

test('a co-signer signs no fee above its own ceiling, whichever signers approved the fee', async () => {
  const { sent, governed } = send();
  expect(await answer(sent, { policies: [governed] })).toBe('fee-above-ceiling');
  const raised = parseFeeCeilings(JSON.stringify({ [dear.chain]: TEN_ETHER.toString() }));
  expect(await answer(sent, { policies: [governed], feeCeilings: raised })).toBe('signs');
  const short = parseFeeCeilings(JSON.stringify({ [dear.chain]: (TEN_ETHER - 1n).toString() }));
  expect(await answer(sent, { policies: [governed], feeCeilings: short })).toBe('fee-above-ceiling');
});

describe('with a fee ceiling that allows the fee', () => {
  const feeCeilings = parseFeeCeilings(JSON.stringify({ [dear.chain]: TEN_ETHER.toString() }));
  const limits = [{ chain: dear.chain, tokenAddress: null, perTransaction: amount('1000'), perDay: null }];
  const signed = (rules: Rules) => {
    const { sent, governed } = send(rules);
    return answer(sent, { policies: [governed], feeCeilings });
  };

  test('the fee counts toward the limit of the native asset', async () => {
    expect(await signed({ ...NO_RULES, limits, limitsIncludeFees: true })).toBe('policy-forbids per-transaction');
    // A policy from before this rule keeps its meaning.
    expect(await signed({ ...NO_RULES, limits })).toBe('signs');
  });

  test('the policy can cap the fee', async () => {
    const maxFees = [{ chain: dear.chain, amount: amount((TEN_ETHER - 1n).toString()) }];
    expect(await signed({ ...NO_RULES, maxFees })).toBe('policy-forbids max-fee');
    expect(await signed({ ...NO_RULES, maxFees: [{ ...maxFees[0]!, chain: 'eip155:1' }] })).toBe('signs');
  });
});

test('the default ceilings are the caps of the built-in chains and one unit elsewhere, and a wrong setting is refused', () => {
  expect(feeCeiling('eip155:1', new Map())).toBe('50000000000000000');
  expect(feeCeiling('eip155:424242', new Map())).toBe('1000000000000000000');
  for (const wrong of ['[]', '{"eip155:1":1}', '{"eip155:1":"1.5"}', '{"ethereum":"1"}', '{"eip155:1":"-1"}']) {
    expect(() => parseFeeCeilings(wrong)).toThrow('MAX_FEES');
  }
  expect(parseFeeCeilings('').size).toBe(0);
});
