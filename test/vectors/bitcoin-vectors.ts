import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { addressOfPublicKey, scriptOf } from '#chains/bitcoin/rules/address.ts';
import { signedMessage, type SignedMessage } from '#chains/bitcoin/rules/message.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { witnessOf } from '#chains/bitcoin/rules/witness.ts';
import type { ChainSignature } from '#chains/chain-rules.ts';
import { suiteOf } from '#mpc/frost/suite.ts';
import { taprootOf, tweakPoint, tweakScalar } from '#mpc/derivation/taproot.ts';
import { encodePoint, parsePoint, SECRETS, Point } from '#mpc/secp256k1.ts';
import { messageIntent } from '../domain/cast.ts';
import bip322 from './bip322.json' with { type: 'json' };
import bip340 from './bip340.json' with { type: 'json' };
import bip341 from './bip341.json' with { type: 'json' };

const CHAIN = `bip122:${GENESIS.mainnet}`;
const EVEN = '02';

export function testBitcoinVectors(): void {
  test('BIP-340: the verifier of FROST signatures agrees with every vector', async () => {
    const { verify } = suiteOf('frost-secp256k1-tr');
    const wrong: number[] = [];
    for (const { index, publicKey, message, signature, result } of bip340.vectors) {
      const isRight = await verify(hexToBytes(signature), hexToBytes(message), hexToBytes(EVEN + publicKey));
      if (isRight !== result) wrong.push(index);
    }
    expect([bip340.vectors.length, wrong]).toEqual([19, []]);
  });

  test('BIP-341: tweak, output key, script, address and tweaked secret of keys without a script match the vectors', () => {
    const network = networkOf(CHAIN)!;
    for (const { internalPubkey, tweak, tweakedPubkey, scriptPubKey, address } of bip341.outputs) {
      const internal = hexToBytes(EVEN + internalPubkey);
      const taproot = taprootOf(internal);
      const output = encodePoint(tweakPoint(taproot, parsePoint(internal)!));
      expect([taproot.tweak, bytesToHex(output.subarray(1))]).toEqual([BigInt(`0x${tweak}`), tweakedPubkey]);
      expect(addressOfPublicKey(network, output)).toBe(address);
      expect(bytesToHex(scriptOf(network, address)!)).toBe(scriptPubKey);
    }
    for (const { internalPrivkey, internalPubkey, tweak, tweakedPrivkey } of bip341.spends) {
      const secret = SECRETS.of(BigInt(`0x${internalPrivkey}`));
      const point = encodePoint(Point.multiple(secret));
      const taproot = taprootOf(point);
      expect([bytesToHex(point.subarray(1)), taproot.tweak]).toEqual([internalPubkey, BigInt(`0x${tweak}`)]);
      expect(bytesToHex(SECRETS.reveal(tweakScalar(taproot, secret)))).toBe(tweakedPrivkey);
    }
  });

  test('BIP-322: the hash of to_sign equals that of the vectors, also for the empty text', () => {
    for (const { message, address, to_sign_tx_hash } of bip322.hashes) {
      const signed = signedText(address, message);
      const id = signed === null ? null : bytesToHex(sha256(sha256(signed.bytes)).toReversed());
      expect([message, id]).toEqual([message, to_sign_tx_hash]);
    }
  });

  test('BIP-322: the witnesses that we build from the signatures of the vectors equal the vectors byte for byte', () => {
    const checked: string[] = [];
    for (const { message, address, type, signatures } of bip322.simple) {
      const signed = signedText(address, message);
      if (signed === null) continue;
      for (const signature of signatures) {
        const stack = stackOf(signature);
        const outcomes = chainSignatures(stack).map((one) => witnessOf(signed.lock, signed.sighash, one));
        const witness = outcomes.find(({ ok }) => ok);
        expect([message, witness?.ok === true && witness.value.map(bytesToHex)]).toEqual([
          message,
          stack.map(bytesToHex),
        ]);
        checked.push(type);
      }
    }
    expect(checked.toSorted()).toEqual(['p2tr', 'p2tr', 'p2wpkh', 'p2wpkh', 'p2wpkh', 'p2wpkh', 'p2wpkh']);
  });

  test('BIP-322: a signature of another message or another signer is refused', () => {
    expect(bip322.errors.length).toBeGreaterThan(0);
    for (const { description, message, address, signature } of bip322.errors) {
      const { lock, sighash } = signedText(address, message)!;
      const outcomes = chainSignatures(stackOf(signature)).map((one) => witnessOf(lock, sighash, one).ok);
      expect([description, outcomes.includes(true)]).toEqual([description, false]);
    }
  });
}

function signedText(address: string, message: string): SignedMessage | null {
  return signedMessage({ ...messageIntent(), chain: CHAIN, from: address, format: 'bip322', message });
}

/**
 * Returns the witness stack of a simple signature: items of less than 253 bytes, each after its
 * length.
 */
function stackOf(signature: string): readonly Uint8Array[] {
  const bytes = Uint8Array.from(Buffer.from(signature.replace(/^smp/, ''), 'base64'));
  const items: Uint8Array[] = [];
  let at = 1;
  while (at < bytes.length) {
    const end = at + 1 + (bytes[at] ?? 0);
    items.push(bytes.slice(at + 1, end));
    at = end;
  }
  if (items.length !== bytes[0]) throw new Error('not a witness stack');
  return items;
}

/**
 * Returns the signature that co-signers would have produced: 64 bytes of BIP-340, or r and s of
 * ECDSA under either parity.
 */
function chainSignatures([signature = new Uint8Array(), key]: readonly Uint8Array[]): readonly ChainSignature[] {
  if (key === undefined) return [{ bytes: signature }];
  const { r, s } = secp256k1.Signature.fromBytes(signature.slice(0, -1), 'der');
  const [first, second] = [r, s].map((value) => hexToBytes(value.toString(16).padStart(64, '0')));
  return ([0, 1] as const).map((yParity) => ({ r: first!, s: second!, yParity }));
}
