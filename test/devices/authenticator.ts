import type { KeyObject } from 'node:crypto';
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { parseDevice } from '#devices/device-key.ts';
import type { DeviceSignature, Passkey } from '#domain/access/device.ts';
import { enrolmentBytes } from '#domain/access/device.ts';
import type { UserId } from '#domain/id.ts';

/** The faults of the browser and the authenticator, which a test can set. */
export interface Assertion {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly rpId?: string;
  readonly flags?: number;
  /** Replaces the whole client data. */
  readonly clientDataJson?: string;
  readonly counter?: number;
}

const PRESENT_AND_VERIFIED = 0b101;

/**
 * Simulates a browser with an authenticator by Web Authentication Level 2, with OpenSSL's P-256.
 */
export class Authenticator {
  readonly #secret: KeyObject = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  readonly passkey: Passkey;

  constructor(userId: UserId, { rpId = 'vaults.example.com', origin = 'https://vaults.example.com' } = {}) {
    const { x = '', y = '' } = createPublicKey(this.#secret).export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
    const credentialId = Buffer.from(randomBytes(32)).toString('base64url');
    const described = {
      userId,
      algorithm: 'webauthn-p256',
      publicKey: point.toString('hex'),
      credentialId,
      rpId,
      origin,
    };
    const device = parseDevice(described);
    if (typeof device === 'string' || device.algorithm !== 'webauthn-p256') throw new Error('no passkey');
    this.passkey = device;
  }

  /**
   * Signs by part 6.3.3, "The authenticatorGetAssertion Operation", and part 5.8.1 for the client's
   * data. @param digest lower-case hex
   */
  signed(digest: string, differences: Assertion = {}): DeviceSignature {
    const { rpId, origin, keyId } = this.passkey;
    const {
      rpId: saidRpId = rpId,
      flags = PRESENT_AND_VERIFIED,
      counter = 0,
      clientDataJson = JSON.stringify({
        type: 'webauthn.get',
        challenge: Buffer.from(digest, 'hex').toString('base64url'),
        origin,
        crossOrigin: false,
        ...differences,
      }),
    } = differences;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const authenticatorData = Buffer.concat([hashOf(saidRpId), Buffer.from([flags]), count]);
    const signature = sign('sha256', Buffer.concat([authenticatorData, hashOf(clientDataJson)]), this.#secret);
    return {
      keyId,
      signature: Buffer.from(signature).toString('base64url'),
      assertion: {
        authenticatorData: authenticatorData.toString('base64url'),
        clientDataJson: Buffer.from(clientDataJson).toString('base64url'),
      },
    };
  }

  /** Returns the signature of an approval. @param digest lower-case hex */
  sign(digest: string) {
    return { keyId: this.passkey.keyId as string, ...this.#sent(digest) };
  }

  /** Returns the proof of possession for an enrolment. */
  proof() {
    return this.#sent(createHash('sha256').update(enrolmentBytes(this.passkey)).digest('hex'));
  }

  #sent(digest: string) {
    const { signature, assertion } = this.signed(digest);
    if (assertion === null) throw new Error('a passkey asserts');
    const { authenticatorData, clientDataJson: clientDataJSON } = assertion;
    return { signature, authenticatorData, clientDataJSON };
  }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
