import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { RawTx, SigHash, Transaction } from '@scure/btc-signer';
import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { scriptOf, segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { needsAmountProof } from '#chains/bitcoin/rules/amount-proof.ts';
import { scriptTypeOf, maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { messageSignature, signedMessage } from '#chains/bitcoin/rules/message.ts';
import { inspectBitcoinPayload } from '#chains/bitcoin/rules/payload.ts';
import type { SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { virtualSizeOf } from '#chains/bitcoin/rules/utxo.ts';
import { paymentOf, psbtOf, scriptCodeOf, transactionOf } from '#chains/bitcoin/rules/transaction.ts';
import { keyHashOf, witnessOf } from '#chains/bitcoin/rules/witness.ts';
import { payloadHex } from '#chains/payload-hex.ts';
import { segwitSighashHalf } from '#local/bitcoin/segwit-sighash.ts';
import { present } from '../evm/cast.ts';
import { BTC, mainnet, message, payment, REGTEST, regtest, sourceOf, stranger } from './cast.ts';

/**
 * Covers wallets with an ECDSA key. The keys of the standards' examples are written as public keys
 * alone.
 */

/** The second input of the "Native P2WPKH" example in BIP-143. */
const BIP143 = {
  unsigned:
    '0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000',
  publicKey: '025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee6357',
  amount: 600_000_000n,
  sighash: 'c37af31116d1b27caf68aae9e3ac82f1477929014d5b917657d0eb49478cb670',
};

test('the library and the regtest both compute the BIP-143 hash of the standard', () => {
  const keyHash = keyHashOf(hexToBytes(BIP143.publicKey));
  const script = Uint8Array.from(Buffer.concat([Buffer.from('0014', 'hex'), keyHash]));
  const utxo = { script, amount: BIP143.amount };
  const half = segwitSighashHalf(RawTx.decode(hexToBytes(BIP143.unsigned)), 1, utxo);
  const own = createHash('sha256').update(half).digest('hex');
  const transaction = Transaction.fromRaw(hexToBytes(BIP143.unsigned), {
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
  });
  const given = transaction.preimageWitnessV0(1, scriptCodeOf(keyHash), SigHash.ALL, BIP143.amount);
  expect([own, bytesToHex(given)]).toEqual([BIP143.sighash, BIP143.sighash]);
});

test('the example key of BIP-173 has the address of the standard, and each scheme has another address', () => {
  const publicKey = hexToBytes('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
  expect(segwitAddressOf(mainnet, publicKey)).toBe('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
  expect(addressOn(REGTEST, 'ecdsa-secp256k1', publicKey)).toMatch(/^bcrt1q/);
  expect(addressOn(REGTEST, 'frost-secp256k1-tr', publicKey)).toMatch(/^bcrt1p/);
  expect(addressOn(REGTEST, 'frost-ed25519', publicKey)).toBeNull();
});

/** A test vector of BIP-322: the signature by the key of this address. */
const HELLO =
  'smpAkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=';

test("a message is signed as in BIP-322's test vectors, and a signature fits no other message", () => {
  const witness = Buffer.from(HELLO.slice('smp'.length), 'base64');
  const der = witness.subarray(2, 1 + present(witness[1]));
  const { r, s } = secp256k1.Signature.fromBytes(Uint8Array.from(der), 'der');
  const bytes = (scalar: bigint) => hexToBytes(scalar.toString(16).padStart(64, '0'));
  const from = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l';
  const chain = 'bip122:000000000019d6689c085ae165831e93';
  const signedAs = (text: string) => {
    const signed = present(signedMessage(message(from, text, { chain })));
    const given = ([0, 1] as const).map((yParity) => messageSignature(signed, { r: bytes(r), s: bytes(s), yParity }));
    return given.flatMap((one) => (one.ok ? [one.value] : []));
  };
  expect(signedAs('Hello World')).toEqual([HELLO]);
  expect(signedAs('Hello World!')).toEqual([]);
});

const publicKey = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey(randomBytes(48)));
const wallet = segwitAddressOf(regtest, publicKey);
const own = present(scriptOf(regtest, wallet));

test('a witness is accepted only from this key, with a low s, and of this scheme', () => {
  const lock = present(scriptTypeOf(own));
  const [r, s] = [randomBytes(32), new Uint8Array(32).fill(0xff)];
  expect(witnessOf(lock, randomBytes(32), { bytes: randomBytes(64) })).toEqual({
    ok: false,
    refusal: 'a signature of another scheme',
  });
  for (const yParity of [0, 1] as const) {
    expect(witnessOf(lock, randomBytes(32), { r, s, yParity })).toEqual({
      ok: false,
      refusal: 'signed by another wallet',
    });
  }
  const taproot = present(scriptTypeOf(present(scriptOf(regtest, stranger()))));
  expect(witnessOf(taproot, randomBytes(32), { r, s: r, yParity: 0 }).ok).toBe(false);
});

const source = (amount: bigint, script = own) => sourceOf(script, amount);

const intent = payment(wallet);
const inspected = (terms: SpendPlan) => {
  const payload = payloadHex(psbtOf(transactionOf(present(paymentOf(intent)), terms)));
  const answer = inspectBitcoinPayload(intent, payload);
  if (!answer.ok) throw new Error(answer.refusal);
  return answer.value;
};

test('the values of UTXOs are read only from the transactions that created them', () => {
  const [one, two] = [source(BTC), source(BTC)];
  const change = BTC - 1_000n;
  const honest = inspected({ utxos: [one.utxo, two.utxo], change });
  expect(needsAmountProof(honest, [one.raw, two.raw])).toBe(true);
  expect(needsAmountProof(honest, [two.raw, one.raw, source(7n).raw])).toBe(true);
  for (const evidence of [
    [],
    [one.raw],
    [one.raw, one.raw],
    [one.raw, source(BTC).raw],
    [one.raw, `${two.raw}00`],
    [one.raw, 'zz'],
  ]) {
    expect(needsAmountProof(honest, evidence)).toBe(false);
  }
  // The UTXO is one satoshi less, or more, than its real value. The difference would go to the
  // miner.
  for (const lie of [-1n, 1n]) {
    const utxos = [one.utxo, { ...two.utxo, amount: BTC + lie }];
    expect(needsAmountProof(inspected({ utxos, change: change + lie }), [one.raw, two.raw])).toBe(false);
  }
  const elsewhere = inspected({ utxos: [one.utxo, { ...two.utxo, vout: 0, amount: 1_000n }], change: 100n + 294n });
  expect(needsAmountProof(elsewhere, [one.raw, two.raw])).toBe(false);
  const strangers = source(BTC, present(scriptOf(regtest, stranger())));
  expect(needsAmountProof(inspected({ utxos: [one.utxo, strangers.utxo], change }), [one.raw, strangers.raw])).toBe(
    false,
  );
});

test('a transaction that is encoded with its witness does not prove an amount', () => {
  const { raw, utxo } = source(2n * BTC);
  const decoded = RawTx.decode(hexToBytes(raw));
  const whole = RawTx.encode({ ...decoded, segwitFlag: true, witnesses: [[randomBytes(64)]] });
  const honest = inspected({ utxos: [utxo], change: BTC - 1_000n });
  expect(needsAmountProof(honest, [bytesToHex(Uint8Array.from(whole))])).toBe(false);
});

test('the sizes match the reference, and fewer UTXOs fit than with P2TR', () => {
  const to = present(scriptOf(regtest, stranger()));
  // One input and two outputs: 141 virtual bytes with a P2WPKH recipient; a P2TR recipient adds
  // twelve.
  expect(virtualSizeOf(own, 1, [to, own])).toBe(153n);
  expect([maxInputsOf(own), maxInputsOf(to)]).toEqual([12, 50]);
  expect(scriptTypeOf(Uint8Array.of(0x00, 0x20, ...randomBytes(32)))).toBeNull();
  expect(scriptTypeOf(Uint8Array.of(0x52, 0x20, ...randomBytes(32)))).toBeNull();
});
