import { addressOn } from '#chains/inspect/address-on.ts';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { AttemptPurpose, TransferIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { generateKey } from '../key/generate-key.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { BTC, localNetwork, stranger } from '../../chains/bitcoin/cast.ts';
import { amount, policy } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedPayment, present, startCosigners } from '../cosigners.ts';
import { refusedByAll } from '../rejected-requests.ts';

/**
 * Tests three co-signers in workerd, a taproot key, and a coordinator that requests forbidden
 * signatures.
 */

const chain = localNetwork();
const rules = bitcoinRules(chain);

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, {
    scheme: 'frost-secp256k1-tr',
    policies: [{ policy, mandate: null }],
  });
  if (!made.ok) throw new Error(made.refusal.reason);
  const { scheme, publicKey } = made.value;
  const derived = walletKey({ scheme, publicKey: hexToBytes(publicKey) }, chain.caip2);
  key = { ...made.value, addresses: { [chain.name]: present(addressOn(chain.caip2, made.value.scheme, derived)) } };
});
afterAll(() => cosigners.stop());

const utxo = (): Utxo => ({ txid: bytesToHex(randomBytes(32)), vout: 0, amount: 2n * BTC });

const transfer = () => approvedPayment(key, chain, { to: stranger(), units: BTC });

interface Further {
  readonly number?: number;
  readonly fee?: bigint;
  readonly purpose?: AttemptPurpose;
}

function attempt(
  intent: TransferIntent,
  utxos: readonly Utxo[],
  { number = 1, fee = 1_000n, purpose = 'intent' }: Further = {},
) {
  const effect = actionOfAttempt(intent, purpose);
  const sent = purpose === 'intent' ? BTC : 0n;
  const terms: SpendPlan = { utxos, change: BigInt(utxos.length) * 2n * BTC - sent - fee };
  const composed = rules.compose(effect, { terms, maxFee: amount('0') }, 0n);
  return unsignedAttempt({ ...composed, purpose }, number, Date.now());
}

test('every two co-signers sign each UTXO of a payment', async () => {
  for (const pair of [
    [1, 2],
    [1, 3],
    [2, 3],
  ] as const) {
    const request = transfer();
    const signed = attempt(request.intent, [utxo(), utxo(), utxo()]);
    const outcome = await thresholdSign(cosigners.some(...pair), { ...request, attempt: signed });
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.signatures).toHaveLength(3);
    expect(rules.assemble(request.intent, signed, outcome.signatures).ok).toBe(true);
  }
});

test('an approval of one payment signs no other payment, and nothing on another network', async () => {
  const [request, other] = [transfer(), transfer()];
  await refusedByAll(cosigners, { ...request, attempt: attempt(other.intent, [utxo()]) }, 'payload-refused');
  const there = { ...request.intent, chain: 'bip122:000000000019d6689c085ae165831e93' };
  await refusedByAll(
    cosigners,
    { ...request, intent: there, attempt: attempt(request.intent, [utxo()]) },
    'wrong-wallet',
  );
});

test('a second attempt that does not spend the same first UTXO is refused, so a payment is made at most once', async () => {
  const request = transfer();
  const [first, second] = [utxo(), utxo()];
  const sign = (one: ReturnType<typeof attempt>) => thresholdSign(cosigners.some(1, 2), { ...request, attempt: one });
  expect((await sign(attempt(request.intent, [first, second]))).ok).toBe(true);
  for (const utxos of [[second], [second, first], [utxo()]]) {
    const outcome = await sign(attempt(request.intent, utxos, { number: 2, fee: 5_000n }));
    expect(outcome.ok ? '' : outcome.reason).toContain('second-digest');
  }
  const cheaper = await sign(attempt(request.intent, [first, second], { number: 2, fee: 999n }));
  expect(cheaper.ok ? '' : cheaper.reason).toContain('second-digest');
  expect((await sign(attempt(request.intent, [first, second, utxo()], { number: 2, fee: 5_000n }))).ok).toBe(true);
});

test('a cancellation spends the UTXOs of the payment, and the payment is never signed after it', async () => {
  const request = transfer();
  const utxos = [utxo()];
  const sign = (one: ReturnType<typeof attempt>) => thresholdSign(cosigners.some(2, 3), { ...request, attempt: one });
  expect((await sign(attempt(request.intent, utxos))).ok).toBe(true);
  const undone = { number: 2, fee: 2_000n, purpose: 'cancellation' as const };
  expect((await sign(attempt(request.intent, utxos, undone))).ok).toBe(true);
  const revived = await sign(attempt(request.intent, utxos, { number: 3, fee: 4_000n }));
  expect(revived.ok ? '' : revived.reason).toContain('second-digest');
});

test('a payment that was signed before is signed again, as after a crash before the signature was stored', async () => {
  const request = transfer();
  const signed = attempt(request.intent, [utxo(), utxo()]);
  const sign = () => thresholdSign(cosigners.some(1, 3), { ...request, attempt: signed });
  const [once, again] = [await sign(), await sign()];
  for (const outcome of [once, again]) {
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(rules.assemble(request.intent, signed, outcome.signatures).ok).toBe(true);
  }
});

test('a co-signer without a record takes it from all signatures of the first attempt, and signs the next one', async () => {
  const request = transfer();
  const utxos = [utxo(), utxo(), utxo()];
  const first = attempt(request.intent, utxos);
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: first });
  if (!outcome.ok) throw new Error(outcome.reason);
  const signed = rules.assemble(request.intent, first, outcome.signatures);
  if (!signed.ok) throw new Error(signed.refusal.detail);
  const bytes = signedBytesOf(rules, request.intent, { ...first, signed: signed.value });
  const faster = { ...request, attempt: attempt(request.intent, utxos, { number: 2, fee: 3_000n }) };
  const [, ...others] = bytes.signed.signatures;
  const lacking = { ...bytes, signed: { ...bytes.signed, signatures: [...others, ...others.slice(0, 1)] } };
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [lacking] })).ok).toBe(false);
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [bytes] })).ok).toBe(true);
});
