/**
 * Attack: a payment with one UTXO is approved with the fee cap of a payment with fifty, and a miner
 *   of the thief collects the whole cap.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.9
 * Defence: each co-signer compares the fee with the size of the bytes that it signs, so only a
 *   large payment may have a large fee.
 */
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { composeTransaction } from '#chains/bitcoin/rules/compose.ts';
import { parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { alice, bob, policy } from '../../../domain/cast.ts';
import { answer, intent, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';
import { BTC, payment, REGTEST, stranger, units } from '../../../chains/bitcoin/cast.ts';

const wallet = stranger();
const cap = units(1_500_000n);
const governed = { ...policy, rules: policy.rules };
const { vaultId, transactionId, createdAtMs, expiresAtMs, policyVersion } = intent;
const dear = payment(wallet, {
  amount: units(BTC),
  maxFee: cap,
  policyHash: policyHashOf(governed),
  vaultId,
  transactionId,
  createdAtMs,
  expiresAtMs,
  policyVersion,
});

/**
 * Returns a signing request that spends this number of UTXOs of two bitcoin each, all chosen by the
 * coordinator.
 */
function send(utxos: number, fee: bigint) {
  const spent = Array.from({ length: utxos }, () => ({ txid: bytesToHex(randomBytes(32)), vout: 0, amount: 2n * BTC }));
  const terms = { utxos: spent, change: BigInt(utxos) * 2n * BTC - BTC - fee };
  const { payload } = composeTransaction(dear, { terms }, 0n);
  return request({ intent: dear, payload, approvals: approvalsBy(dear, alice, bob) });
}

const judged = (utxos: number, fee: bigint, ceilings = '') =>
  answer(send(utxos, fee), { wallet, policies: [governed], feeCeilings: parseFeeCeilings(ceilings) });

test('a payment with one UTXO pays at most the fee for its size, whatever fee was approved', async () => {
  expect(await judged(1, 150_000n)).toBe('signs');
  expect(await judged(1, 150_001n)).toBe('fee-above-ceiling');
  expect(await judged(1, 1_500_000n)).toBe('fee-above-ceiling');
});

test('a payment with many UTXOs pays more in proportion to its size, and not a satoshi above the rate', async () => {
  // The size is 50 inputs of 57.5 virtual bytes, two outputs of 43 and an overhead of 10.5.
  const most = 500n * 2972n;
  expect(await judged(50, most)).toBe('signs');
  expect(await judged(50, most + 1n)).toBe('fee-above-ceiling');
});

test('a fee ceiling that the operator of a co-signer has set is not scaled by size', async () => {
  expect(await judged(1, 1_000_000n, JSON.stringify({ [REGTEST]: cap }))).toBe('signs');
  expect(await judged(1, 1_000n, JSON.stringify({ [REGTEST]: '1499999' }))).toBe('fee-above-ceiling');
});
