import { bytesToHex, concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { inspectBitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { paymentOf, psbtOf, transactionOf } from '#chains/bitcoin/rules/transaction.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { present } from '../../evm/cast.ts';
import { BTC, bytesOf, mainnet, message, payment, regtest, stranger, units, Wallet } from '../cast.ts';
import { inTurn } from '../../../setup/turns.ts';

const wallet = new Wallet().address;
const thief = stranger();
const intent = payment(wallet);

const utxo = (amount = 2n * BTC): Utxo => ({ txid: bytesToHex(randomBytes(32)), vout: 1, amount });
const HONEST: SpendPlan = { utxos: [utxo(), utxo(BTC)], change: 2n * BTC - 1_000n };

const made = (of: TransferIntent, terms: SpendPlan) => transactionOf(present(paymentOf(of)), terms);
const payload = (of: TransferIntent, terms: SpendPlan) => payloadHex(psbtOf(made(of, terms)));
const verdict = (of: TransferIntent, text: string) => {
  const inspected = inspectBitcoinPayload(of, text);
  return inspected.ok ? 'signs' : inspected.refusal;
};

test('an honest payment passes, with a hash for each UTXO, its fee, and the UTXO that identifies the payment', () => {
  const inspected = inspectPayload(intent, payload(intent, HONEST));
  if (!inspected.ok || inspected.value.kind !== 'transaction') throw new Error('it is honest');
  const { signedMessages, maxFee, bid } = inspected.value;
  expect([signedMessages.length, maxFee, bid.minRisePercent]).toEqual([2, 1_000n, 100n]);
  expect(new Set(signedMessages.map(bytesToHex)).size).toBe(2);
  expect(bid.nonce).toBe((BigInt(`0x${present(HONEST.utxos[0]).txid}`) << 32n) + 1n);
});

test('a cancellation returns all UTXOs to the wallet', () => {
  const undone = actionOfAttempt(intent, 'cancellation');
  if (undone.kind !== 'transfer') throw new Error('it is a payment of nothing');
  const back: SpendPlan = { ...HONEST, change: 3n * BTC - 1_000n };
  expect(verdict(undone, payload(undone, back))).toBe('signs');
  expect(verdict(undone, payload(intent, HONEST))).toBe('malformed');
  expect(verdict(intent, payload(undone, back))).not.toBe('signs');
});

/** Returns the bytes of a payment that was changed before its serialization. */
function changed(change: (transaction: Transaction) => void): string {
  const transaction = Transaction.fromPSBT(psbtOf(made(intent, HONEST)), { allowUnknownOutputs: true });
  change(transaction);
  return payloadHex(psbtOf(transaction));
}

const script = (address: string) => present(scriptOf(regtest, address));

test.each<[string, (transaction: Transaction) => void]>([
  ['another recipient', (one) => one.updateOutput(0, { script: script(thief) })],
  ['another amount', (one) => one.updateOutput(0, { amount: BTC + 1n })],
  ['change for another recipient', (one) => one.updateOutput(1, { script: script(thief) })],
  ['one output more', (one) => void one.addOutput({ script: script(thief), amount: 1_000n })],
  ['a final sequence', (one) => one.updateInput(0, { sequence: 0xffffffff })],
  [
    'UTXOs of another script',
    (one) => one.updateInput(0, { witnessUtxo: { script: script(thief), amount: 2n * BTC } }),
  ],
  ['another hash type', (one) => one.updateInput(0, { sighashType: 0x81 })],
  ['a signature already', (one) => one.updateInput(0, { tapKeySig: new Uint8Array(64).fill(1) }, true)],
])('bytes with %s are not signed', (_name, change) => {
  expect(['wrong-transfer', 'malformed']).toContain(verdict(intent, changed(change)));
});

test.each<[string, SpendPlan, string]>([
  ['no UTXO', { utxos: [], change: 0n }, 'malformed'],
  ['more out than in', { utxos: [utxo(BTC)], change: 1_000n }, 'malformed'],
  ['a fee above the approved cap', { utxos: [utxo()], change: BTC - 150_001n }, 'fee-above-cap'],
  ['exactly that fee', { utxos: [utxo()], change: BTC - 150_000n }, 'signs'],
  ['change that is dust', { utxos: [utxo(BTC + 1_000n)], change: 329n }, 'dust'],
  [
    'the maximum of UTXOs',
    {
      utxos: Array.from({ length: maxInputsOf(present(scriptOf(regtest, wallet))) }, () => utxo(BTC)),
      change: 49n * BTC - 9_000n,
    },
    'signs',
  ],
  [
    'more UTXOs',
    {
      utxos: Array.from({ length: maxInputsOf(present(scriptOf(regtest, wallet))) + 1 }, () => utxo(BTC)),
      change: 50n * BTC - 9_000n,
    },
    'too-many-coins',
  ],
])('the inspection of a payment with %s returns %s', (_name, terms, expected) => {
  expect(verdict(intent, payload(intent, terms))).toBe(expected);
});

test.each<[string, Partial<Record<keyof TransferIntent, unknown>>]>([
  ['a token', { tokenAddress: wallet }],
  ['a wallet of another network', { from: stranger(mainnet) }],
  ['a recipient of another network', { to: stranger(mainnet) }],
  ['a wallet that is a script', { from: 'bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry' }],
  ['a network that there is not', { chain: 'bip122:ffffffff9019d6689c085ae165831e93' }],
  ['an amount in a list', { amount: ['100000000'] }],
  ['more than there will ever be', { amount: '2100000000000001' }],
  ['an amount below zero', { amount: '-1' }],
])('an intent with %s is not canonical', (_name, change) => {
  const honest = payload(intent, HONEST);
  expect(verdict({ ...intent, ...change } as TransferIntent, honest)).toBe('intent-not-canonical');
});

test('a child transaction spends the UTXO of its parent first, and pays only the wallet', () => {
  const [one, two] = HONEST.utxos;
  const [first, second] = [present(one), present(two)];
  const child = payment(wallet, { to: wallet, amount: units(0n), paysFor: first.txid });
  const bytes = (utxos: readonly Utxo[]) => payload(child, { utxos, change: BTC });
  const fee = { ...child, maxFee: units(3n * BTC) };
  expect(verdict(fee, bytes([first]))).toBe('signs');
  expect(verdict(fee, bytes([first, second]))).toBe('signs');
  expect([verdict(fee, bytes([second])), verdict(fee, bytes([second, first]))]).toEqual([
    'wrong-transfer',
    'wrong-transfer',
  ]);
  for (const change of [{ to: thief }, { amount: units(1_000n) }, { paysFor: 'AB'.repeat(32) }, { paysFor: '' }]) {
    expect(verdict({ ...fee, ...change }, bytes([first]))).toBe('intent-not-canonical');
  }
});

test('a payment whose amount is dust is not signed', () => {
  const small = payment(wallet, { amount: units(329n) });
  expect(verdict(small, payload(small, { utxos: [utxo(BTC)], change: BTC - 1_329n }))).toBe('dust');
});

test('only the exact bytes are signed, without a changed bit, a missing end or a suffix', () => {
  const bytes = bytesOf(payload(intent, HONEST));
  expect(verdict(intent, payloadHex(concatBytes(bytes, Uint8Array.of(0))))).not.toBe('signs');
  const accepted = new Set<string>();
  for (const bit of inTurn([...Array(bytes.length * 8).keys()], 8)) {
    const turned = Uint8Array.from(bytes);
    turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const inspected = inspectBitcoinPayload(intent, payloadHex(turned));
    if (!inspected.ok) continue;
    // The intent leaves open only the UTXOs, their values and the change; the signature covers all
    // of it.
    accepted.add(inspected.value.signedMessages.map(bytesToHex).join());
    expect(inspected.value.payment).toEqual(paymentOf(intent));
    expect(inspected.value.maxFee <= BigInt(intent.maxFee)).toBe(true);
  }
  const honest = inspectBitcoinPayload(intent, payloadHex(bytes));
  expect(honest.ok && accepted.has(honest.value.signedMessages.map(bytesToHex).join())).toBe(false);
});

test('bytes that are not a PSBT are refused without an exception', () => {
  const texts = ['', '0x', '0x70736274ff', `0x${'00'.repeat(100)}`, 'psbt', '0x7'];
  for (const text of texts) expect(verdict(intent, text)).toBe('malformed');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(verdict(intent, payloadHex(bytes))).toBe('malformed');
    }),
  );
  expect(inspectPayload({ ...intent, kind: 'erc20-approve' } as never, payload(intent, HONEST))).toEqual({
    ok: false,
    refusal: 'unsupported-kind',
  });
});

test('the bytes of a message are not accepted as a payment, and only its own bytes are signed', () => {
  const said = message(wallet, 'Sign in to example.com');
  const other = message(wallet, 'Sign in to example.org');
  expect(inspectPayload(said, payload(intent, HONEST))).toEqual({ ok: false, refusal: 'wrong-message' });
  expect(inspectPayload({ ...said, format: 'eip191' }, '0x00')).toEqual({ ok: false, refusal: 'intent-not-canonical' });
  expect(inspectPayload({ ...other, message: 'x'.repeat(16_385) }, '0x00')).toEqual({
    ok: false,
    refusal: 'intent-not-canonical',
  });
  // BIP-322 has a test vector for the empty message.
  expect(inspectPayload({ ...other, message: '' }, '0x00')).toEqual({ ok: false, refusal: 'wrong-message' });
});
