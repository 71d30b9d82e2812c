import { Aes128Gcm, CipherSuite } from '@hpke/core';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { RECOVERY_SUITE } from '#mpc/recovery/package.ts';
import vectors from './hpke.json' with { type: 'json' };

/**
 * The RFC prints no vectors with AES-256, so the KEM and the KDF of the recovery packages run with
 * AES-128 here.
 */
export function testHpkeVectors(): void {
  const { kem, kdf } = RECOVERY_SUITE;
  const suite = new CipherSuite({ kem, kdf, aead: new Aes128Gcm() });
  const info = bufferOf(vectors.info);

  test('RFC 9180, A.1.1: the recipient opens the ciphertexts of the RFC, and refuses changed ones', async () => {
    const recipientKey = await suite.kem.importKey('raw', bufferOf(vectors.skRm), false);
    const recipient = await suite.createRecipientContext({ recipientKey, enc: bufferOf(vectors.enc), info });
    for (const { aad, ct } of vectors.encryptions) {
      const changed = `${ct.slice(0, -2)}${ct.endsWith('00') ? '01' : '00'}`;
      await expect(recipient.open(bufferOf(changed), bufferOf(aad))).rejects.toThrow();
      const opened = new Uint8Array(await recipient.open(bufferOf(ct), bufferOf(aad)));
      expect(bytesToHex(opened)).toBe(vectors.pt);
    }
  });

  test('RFC 9180, A.1.1: the sender produces the ciphertexts of the RFC with the ephemeral key of the RFC', async () => {
    const recipientPublicKey = await suite.kem.deserializePublicKey(bufferOf(vectors.pkRm));
    const ekm = {
      privateKey: await suite.kem.importKey('raw', bufferOf(vectors.skEm), false),
      publicKey: await suite.kem.deserializePublicKey(bufferOf(vectors.pkEm)),
    };
    const sender = await suite.createSenderContext({ recipientPublicKey, info, ekm });
    expect(bytesToHex(new Uint8Array(sender.enc))).toBe(vectors.enc);
    for (const { aad, ct } of vectors.encryptions) {
      const sealed = new Uint8Array(await sender.seal(bufferOf(vectors.pt), bufferOf(aad)));
      expect(bytesToHex(sealed)).toBe(ct);
    }
  });
}

function bufferOf(hex: string): ArrayBuffer {
  return Uint8Array.from(hexToBytes(hex)).buffer;
}
