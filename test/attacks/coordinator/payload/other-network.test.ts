/**
 * Attack: the coordinator uses an approval for a test network of Bitcoin as a signature on mainnet.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.4
 * Defence: the P2WPKH key of every network except mainnet is derived, so its signatures are not
 *   valid on another network.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { addressOfPublicKey, scriptOf } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { ChainSignature } from '#chains/chain-rules.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { Action, MessageIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../../../cosigner/threshold-sign.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { BTC, sourceOf } from '../../../chains/bitcoin/cast.ts';
import { byDevice, laptop, phone, founded } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { entered, newKey, present, startCosigners, approvalBy } from '../../../cosigner/cosigners.ts';
import { refusedByAll } from '../../../cosigner/rejected-requests.ts';
import { alice, amount, bob } from '../../../domain/cast.ts';

const chainOf = (name: string): Chain => present(findChain(chainsFrom({}), name));
const mainnet = chainOf('bitcoin');
const testnet = chainOf('bitcoin-testnet4');
const [onMainnet, onTestnet] = [bitcoinRules(mainnet), bitcoinRules(testnet)];

/** The mainnet wallet may spend at most a thousand satoshi. The test network has no limit. */
const limited: Policy = {
  ...byDevice,
  rules: {
    ...byDevice.rules,
    limits: [{ chain: mainnet.caip2, tokenAddress: null, perTransaction: amount('1000'), perDay: null }],
  },
};

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  const made = await newKey(cosigners.all, { governedBy: limited });
  key = {
    ...made,
    addresses: { [mainnet.name]: addressFor(made, mainnet), [testnet.name]: addressFor(made, testnet) },
  };
});
afterAll(() => cosigners.stop());

function addressFor({ scheme, publicKey }: VaultKey, { caip2 }: Chain): string {
  return present(addressOn(caip2, scheme, walletKey({ scheme, publicKey: hexToBytes(publicKey) }, caip2)));
}

const walletOn = ({ name }: Chain) => present(key.addresses[name]);
const networkFor = ({ caip2 }: Chain) => present(networkOf(caip2));
const scriptOn = (chain: Chain) => present(scriptOf(networkFor(chain), walletOn(chain)));

/** Mallory has one key, with an address on each network. */
const mallorysKey = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
const mallorysAddressOn = (chain: Chain) => addressOfPublicKey(networkFor(chain), mallorysKey);

/**
 * Returns what the devices of alice and bob approve, as the coordinator sends it to the co-signers.
 */
function requestFor({ digest }: Transaction) {
  const approvals = [
    { ...approvalBy(alice, digest), device: laptop.signed(digest) },
    { ...approvalBy(bob, digest), device: phone.signed(digest) },
  ];
  return { key, signingThreshold: 2, approvals, policies: [founded(limited)], evidence: [] };
}

interface Lie {
  /** The network that the coordinator shows to alice and bob. */
  readonly chain?: Chain;
  readonly from?: string;
}

/**
 * Returns a payment of nearly two bitcoin to mallory. The coordinator chooses by its script the
 * UTXO that the payment spends.
 */
function approvedPayment(script: Uint8Array, { chain = testnet, from = walletOn(chain) }: Lie = {}) {
  const units = amount((2n * BTC - 10_000n).toString());
  const action: Action = { kind: 'transfer', to: mallorysAddressOn(chain), tokenAddress: null, amount: units };
  const wallet = { ...key, addresses: { [chain.name]: from } };
  const transaction = entered(wallet, action, { chain, governedBy: limited });
  const { intent } = transaction;
  if (intent.kind !== 'transfer') throw new Error('the story is about a transfer');
  const { raw, utxo } = sourceOf(script, 2n * BTC);
  const composed = onTestnet.compose(intent, { terms: { utxos: [utxo], change: 0n }, maxFee: amount('0') }, 0n);
  const attempt = unsignedAttempt({ ...composed, purpose: 'intent' }, 1, Date.now());
  return { ...requestFor(transaction), intent, attempt, evidence: [raw] };
}

type Payment = ReturnType<typeof approvedPayment>;

/**
 * Returns the bytes with the signatures as a mainnet transaction of this wallet, or null if they
 * are not valid there.
 */
function onMainnetAs(from: string, { intent, attempt }: Payment, signatures: readonly ChainSignature[]) {
  const twin: TransferIntent = { ...intent, chain: mainnet.caip2, from, to: mallorysAddressOn(mainnet) };
  const assembled = onMainnet.assemble(twin, attempt, signatures);
  return assembled.ok ? assembled.value.raw : null;
}

test('an approval for the test network signs no UTXO of the mainnet wallet', async () => {
  const theft = approvedPayment(scriptOn(mainnet));
  const outcome = await thresholdSign(cosigners.some(1, 2), theft);
  expect(outcome.ok ? onMainnetAs(walletOn(mainnet), theft, outcome.signatures) : null).toBeNull();
  await refusedByAll(cosigners, theft, 'payload-refused');
  // For comparison, the same payment on mainnet exceeds the limit of mainnet.
  await refusedByAll(cosigners, approvedPayment(scriptOn(mainnet), { chain: mainnet }), 'policy-forbids');
});

test('the mainnet key signs nothing for the test network, even if the intent names its address', async () => {
  const former = present(addressOn(testnet.caip2, key.scheme, hexToBytes(key.publicKey)));
  await refusedByAll(cosigners, approvedPayment(scriptOn(mainnet), { from: former }), 'wrong-wallet');
});

test('the signatures of an honest test-network payment are not valid for the mainnet key', async () => {
  const honest = approvedPayment(scriptOn(testnet));
  const outcome = await thresholdSign(cosigners.some(1, 3), honest);
  if (!outcome.ok) throw new Error(outcome.reason);
  expect(onTestnet.assemble(honest.intent, honest.attempt, outcome.signatures).ok).toBe(true);
  expect(onMainnetAs(walletOn(mainnet), honest, outcome.signatures)).toBeNull();
  // The bytes that the mainnet wallet would have to sign, with the signatures from the test
  // network.
  const requested = approvedPayment(scriptOn(mainnet), { chain: mainnet });
  expect(onMainnetAs(walletOn(mainnet), requested, outcome.signatures)).toBeNull();
});

test('a message signed for the test network is not valid for the mainnet wallet', async () => {
  const text = { kind: 'message', format: 'bip322', message: 'I own this address' } as const;
  const transaction = entered(key, text, { chain: testnet, governedBy: limited });
  const { intent } = transaction;
  if (intent.kind !== 'message') throw new Error('the story is about a message');
  const attempt = { number: 1, purpose: 'intent' as const, ...onTestnet.composeMessage(intent) };
  const outcome = await thresholdSign(cosigners.some(2, 3), { ...requestFor(transaction), intent, attempt });
  if (!outcome.ok) throw new Error(outcome.reason);
  const signature = present(outcome.signatures[0]);
  expect(onTestnet.assembleMessage(intent, signature).ok).toBe(true);
  const twin: MessageIntent = { ...intent, chain: mainnet.caip2, from: walletOn(mainnet) };
  expect(onMainnet.assembleMessage(twin, signature)).toEqual({
    ok: false,
    refusal: { detail: 'signed by another wallet' },
  });
});
