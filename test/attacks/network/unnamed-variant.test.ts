/**
 * Attack: a stranger presents a message signature of a wallet as one of another variant of BIP-322, which proves something else.
 * Attacker: network
 * Co-signers: 0
 * Finding: 17
 * Defence: a signature names the variant that made it, and none is valid under another variant.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { messageSignature, signedMessage } from '#chains/bitcoin/rules/message.ts';
import { verifyMessage } from '#chains/bitcoin/rules/verify-message.ts';
import { message } from '../../chains/bitcoin/cast.ts';
import { present } from '../../chains/evm/cast.ts';

const MAINNET = 'bip122:000000000019d6689c085ae165831e93';
/** BIP-322, test vectors: the witness stack that the key of this address signed for "Hello World". */
const ADDRESS = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l';
const STACK =
  'AkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=';

/** The signature that the service gives for the message, from the r and s of the vector. */
function signedByWallet(): readonly string[] {
  const witness = Buffer.from(STACK, 'base64');
  const der = witness.subarray(2, 1 + present(witness[1]));
  const { r, s } = secp256k1.Signature.fromBytes(Uint8Array.from(der), 'der');
  const bytes = (scalar: bigint) => hexToBytes(scalar.toString(16).padStart(64, '0'));
  const signed = present(signedMessage(message(ADDRESS, 'Hello World', { chain: MAINNET })));
  const given = ([0, 1] as const).map((yParity) => messageSignature(signed, { r: bytes(r), s: bytes(s), yParity }));
  return given.flatMap((one) => (one.ok ? [one.value] : []));
}

function validity(signature: string): boolean | null {
  const claim = { chain: MAINNET, address: ADDRESS, format: null, message: 'Hello World', signature };
  const answer = verifyMessage(claim);
  return answer.ok ? answer.value.verdict.valid : false;
}

test('the service gives a signature that names the simple variant, and it is valid', () => {
  expect(signedByWallet()).toEqual([`smp${STACK}`]);
  expect(validity(`smp${STACK}`)).toBe(true);
});

test.each(['ful', 'pof', 'SMP', 'smpsmp', 'xyz'])('under the variant %s the same stack is not valid', (variant) => {
  expect(validity(`${variant}${STACK}`)).not.toBe(true);
});
