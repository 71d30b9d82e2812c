import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { afterEach, expect, test, vi } from 'vitest';
import { signedRecoveryPackage } from '#cosigner/key/recovery-export.ts';
import { openRecovery } from '#cli/recovery/rebuild-key.ts';
import { importIdentity } from '#mpc/envelope.ts';
import { identitySecrets } from '#mpc/identity.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { RECOVERY_SUITE, SealDiffers, sealForRecovery } from '#mpc/recovery/package.ts';
import { sealBase } from '#mpc/recovery/second-seal.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';
import vectors from '../vectors/hpke.json' with { type: 'json' };
import { dealKey, party } from './dealt-key.ts';

/** Covers the second seal of a recovery package, which the co-signer compares before it signs. */

/** RFC 9180, A.1.1: the ephemeral key of the vectors is derived from it. */
const IKM_E = '7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234';

afterEach(() => vi.restoreAllMocks());

function shareOf(): KeyShare {
  const { publicKey, publicShares, shares } = dealKey(2, [party(1), party(2)]);
  const scheme = 'ecdsa-secp256k1';
  const secret = shares.get(party(1)) ?? SECRETS.of(0n);
  const keyId = keyIdOf(scheme, publicKey);
  return { scheme, keyId, epoch: 1, self: party(1), threshold: 2, secret, publicKey, publicShares };
}

test('RFC 9180, A.1.1: the second seal gives the encapsulated key and the first ciphertext of the RFC', async () => {
  const [first] = vectors.encryptions;
  const [ikmE, pkR, info, plaintext, aad] = [IKM_E, vectors.pkRm, vectors.info, vectors.pt, first?.aad ?? ''].map(
    (text) => hexToBytes(text),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  const { enc, ct } = await sealBase({ ikmE, pkR, info, plaintext, aad, keyBytes: 16 });
  expect([bytesToHex(enc), bytesToHex(ct)]).toEqual([vectors.enc, first?.ct]);
});

test('with AES-256 the second seal opens with @hpke/core, for any recipient and text', async () => {
  for (let i = 0; i < 20; i++) {
    const { secretKey, publicKey } = x25519.keygen();
    const [info, plaintext] = [randomBytes(i), randomBytes(32)];
    const { enc, ct } = await sealBase({ ikmE: randomBytes(32), pkR: publicKey, info, plaintext });
    const recipientKey = await RECOVERY_SUITE.kem.importKey('raw', Uint8Array.from(secretKey).buffer, false);
    const context = { recipientKey, enc: Uint8Array.from(enc).buffer, info: Uint8Array.from(info).buffer };
    const recipient = await RECOVERY_SUITE.createRecipientContext(context);
    const opened = new Uint8Array(await recipient.open(Uint8Array.from(ct).buffer));
    expect(bytesToHex(opened)).toBe(bytesToHex(plaintext));
  }
});

test('a seal that differs in any byte is not returned, and a package opens', async () => {
  const { secretKey, publicKey } = x25519.keygen();
  const share = shareOf();
  const recoveryKey = bytesToHex(publicKey);
  for (const field of ['enc', 'ct'] as const) {
    const faultyAt = (isFaulty: (call: number) => boolean): typeof sealBase => {
      let calls = 0;
      return async (input) => {
        const sealed = await sealBase(input);
        if (isFaulty((calls += 1))) sealed[field].set([(sealed[field][5] ?? 0) ^ calls], 5);
        return sealed;
      };
    };
    const evidenceOf = async (again: typeof sealBase) => {
      const fault: unknown = await sealForRecovery(recoveryKey, share, again).catch((error: unknown) => error);
      return fault instanceof SealDiffers ? fault.evidence : fault;
    };
    expect(await evidenceOf(faultyAt((call) => call === 1))).toEqual({ parts: [field], confirmed: 'first' });
    expect(await evidenceOf(faultyAt(() => true))).toEqual({ parts: [field], confirmed: 'neither' });
    const wrong: typeof sealBase = async (input) => ({ ...(await sealBase(input)), [field]: new Uint8Array(32) });
    expect(await evidenceOf(wrong)).toEqual({ parts: [field], confirmed: 'second' });
  }
  const sealed = await sealForRecovery(recoveryKey, share);
  expect(await openRecovery(bytesToHex(secretKey), { ...sealed, signature: '' })).not.toBeTypeOf('string');
  // Every package has an ephemeral key of its own, and the share of the caller stays.
  expect((await sealForRecovery(recoveryKey, share)).encapsulated).not.toBe(sealed.encapsulated);
});

test('a co-signer signs no seal that differs, and logs it without a secret', async () => {
  const own = await importIdentity(party(1), identitySecrets('11'.repeat(32)));
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
  const recoveryKey = bytesToHex(x25519.keygen().publicKey);
  const share = shareOf();
  const differing = () => Promise.reject(new SealDiffers({ parts: ['ct'], confirmed: 'first' }));
  const answer = await signedRecoveryPackage(own, { recoveryKey, share }, differing);
  expect(answer).toMatchObject({ ok: false, refusal: { code: 'seal-differs' } });
  const { keyId } = share;
  const line = { event: 'recovery-seal-differs', node: 1, keyId, epoch: 1, parts: ['ct'], confirmed: 'first' };
  expect(lines.mock.calls).toEqual([[JSON.stringify(line)]]);
  const failing = () => Promise.reject(new Error('another fault'));
  await expect(signedRecoveryPackage(own, { recoveryKey, share }, failing)).rejects.toThrow('another fault');
  expect((await signedRecoveryPackage(own, { recoveryKey, share })).ok).toBe(true);
});
