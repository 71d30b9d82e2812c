import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { BTC, localNetwork, regtest, sourceOf, stranger } from '../../chains/bitcoin/cast.ts';
import { amount } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedPayment, entered, newKey, present, requestFor, startCosigners } from '../cosigners.ts';
import { refusedByAll } from '../rejected-requests.ts';

/**
 * Tests three co-signers in workerd, an ECDSA key that holds bitcoin, and a coordinator that lies
 * about the amounts of UTXOs.
 */

const chain = localNetwork();
const rules = bitcoinRules(chain);

let cosigners: Cosigners;
let key: VaultKey;
let own: Uint8Array;

beforeAll(async () => {
  cosigners = await startCosigners();
  const made = await newKey(cosigners.all);
  const { scheme } = made;
  const derived = walletKey({ scheme, publicKey: hexToBytes(made.publicKey) }, chain.caip2);
  const address = present(addressOn(chain.caip2, scheme, derived));
  key = { ...made, addresses: { [chain.name]: address } };
  own = present(scriptOf(regtest, address));
});
afterAll(() => cosigners.stop());

/** Returns a UTXO of the wallet, and the transaction that created it. */
const source = () => sourceOf(own, 2n * BTC);

const transfer = () => approvedPayment(key, chain, { to: stranger(), units: BTC });

function attempt(intent: TransferIntent, terms: SpendPlan, number = 1) {
  const composed = rules.compose(intent, { terms, maxFee: amount('0') }, 0n);
  return unsignedAttempt({ ...composed, purpose: 'intent' }, number, Date.now());
}

test('every two co-signers sign all UTXOs of a payment in the rounds of one signature', async () => {
  for (const pair of [
    [1, 2],
    [1, 3],
    [2, 3],
  ] as const) {
    const request = transfer();
    const sources = [source(), source(), source()];
    const signed = attempt(request.intent, { utxos: sources.map(({ utxo }) => utxo), change: 5n * BTC - 1_000n });
    const paths: string[] = [];
    cosigners.watch(({ path }) => void paths.push(path));
    const evidence = sources.map(({ raw }) => raw);
    const outcome = await thresholdSign(cosigners.some(...pair), { ...request, attempt: signed, evidence });
    cosigners.watch(() => {});
    if (!outcome.ok) throw new Error(outcome.reason);
    expect([outcome.signatures.length, paths.length]).toEqual([3, 8]);
    expect(rules.assemble(request.intent, signed, outcome.signatures).ok).toBe(true);
    const swapped = outcome.signatures.toReversed();
    expect(rules.assemble(request.intent, signed, swapped).ok).toBe(false);
  }
});

test('the maximum number of UTXOs is signed at once', async () => {
  const request = transfer();
  const sources = Array.from({ length: 12 }, () => source());
  const signed = attempt(request.intent, { utxos: sources.map(({ utxo }) => utxo), change: 23n * BTC - 9_000n });
  const evidence = sources.map(({ raw }) => raw);
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: signed, evidence });
  if (!outcome.ok) throw new Error(outcome.reason);
  expect(rules.assemble(request.intent, signed, outcome.signatures).ok).toBe(true);
});

test('two sessions with false UTXO amounts, which BIP-143 alone would let pass, give no signature', async () => {
  const request = transfer();
  const [one, two] = [source(), source()];
  const evidence = [one.raw, two.raw];
  const change = BTC - 1_000n;
  // BIP-143 signs only the amount of its own input, so signatures from both lies would form one
  // valid transaction. It would pay almost two bitcoin as fee.
  const lies: readonly Utxo[][] = [
    [one.utxo, { ...two.utxo, amount: 1n }],
    [{ ...one.utxo, amount: 1n }, two.utxo],
  ];
  for (const utxos of lies) {
    const lied = { ...request, attempt: attempt(request.intent, { utxos, change: change + 1n }) };
    await refusedByAll(cosigners, { ...lied, evidence }, 'payload-refused');
    await refusedByAll(cosigners, { ...lied, evidence: [] }, 'payload-refused');
  }
});

test('a UTXO without its transaction, or with evidence that is not a transaction, is refused', async () => {
  const request = transfer();
  const { raw, utxo } = source();
  const signed = { ...request, attempt: attempt(request.intent, { utxos: [utxo], change: BTC - 1_000n }) };
  await refusedByAll(cosigners, { ...signed, evidence: [] }, 'payload-refused');
  await refusedByAll(cosigners, { ...signed, evidence: [source().raw] }, 'payload-refused');
  await refusedByAll(cosigners, { ...signed, evidence: [raw.slice(0, -2)] }, 'payload-refused');
  for (const odd of ['', 'zz', 'AB', 'abc', 'ab'.repeat(100_001)]) {
    await refusedByAll(cosigners, { ...signed, evidence: [odd] }, 'malformed');
  }
  await refusedByAll(cosigners, { ...signed, evidence: Array.from({ length: 13 }, () => raw) }, 'malformed');
  expect((await thresholdSign(cosigners.some(1, 3), { ...signed, evidence: [raw] })).ok).toBe(true);
});

test.each(['hello', ''])('the message %j is signed for the address of the key', async (message) => {
  const transaction = entered(key, { kind: 'message', format: 'bip322', message }, { chain });
  const { intent } = transaction;
  if (intent.kind !== 'message') throw new Error('the story is about a message');
  const signed = { number: 1, purpose: 'intent' as const, ...rules.composeMessage(intent) };
  const request = { ...requestFor(key, transaction), intent, attempt: signed };
  const outcome = await thresholdSign(cosigners.some(2, 3), request);
  if (!outcome.ok) throw new Error(outcome.reason);
  const given = rules.assembleMessage(intent, present(outcome.signatures[0]));
  expect(given.ok && given.value.startsWith('smpA')).toBe(true);
});

test('a co-signer without a record takes it from all signatures of the first attempt, and signs the next one', async () => {
  const request = transfer();
  const sources = [source(), source(), source()];
  const [utxos, evidence] = [sources.map(({ utxo }) => utxo), sources.map(({ raw }) => raw)];
  const first = attempt(request.intent, { utxos, change: 5n * BTC - 1_000n });
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: first, evidence });
  if (!outcome.ok) throw new Error(outcome.reason);
  const signed = rules.assemble(request.intent, first, outcome.signatures);
  if (!signed.ok) throw new Error(signed.refusal.detail);
  const bytes = signedBytesOf(rules, request.intent, { ...first, signed: signed.value });
  const faster = { ...request, attempt: attempt(request.intent, { utxos, change: 5n * BTC - 3_000n }, 2), evidence };
  const swapped = { ...bytes, signed: { ...bytes.signed, signatures: bytes.signed.signatures.toReversed() } };
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [swapped] })).ok).toBe(false);
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [bytes] })).ok).toBe(true);
});
