import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { deviceKeyId, parseDevice } from '#devices/device-key.ts';
import type { Device, DeviceRequest, DeviceSignature } from '#domain/access/device.ts';
import { deviceRequestBytes, enrolmentBytes } from '#domain/access/device.ts';
import type { DeviceKeyId } from '#domain/id.ts';
import { parseUserId } from '#domain/id.ts';

/**
 * An Ed25519 key with which a script approves for its owner. The service receives only its public
 * key and its signatures.
 */
export class ScriptDevice {
  readonly #secret: KeyObject;

  constructor(secret: KeyObject) {
    if (secret.asymmetricKeyType !== 'ed25519') throw new Error('The device key is not an Ed25519 key.');
    this.#secret = secret;
  }

  static create(): ScriptDevice {
    return new ScriptDevice(generateKeyPairSync('ed25519').privateKey);
  }

  /** @param pem PKCS #8 */
  static read(pem: string): ScriptDevice {
    return new ScriptDevice(createPrivateKey(pem));
  }

  /** Returns PKCS #8. A reader of the text can approve as the owner. */
  secretPem(): string {
    return this.#secret.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** Returns the device as a policy stores it. Throws for an invalid user id. */
  asDevice(userId: string): Device {
    const owner = parseUserId(userId);
    if (owner === null) throw new Error('The user id of the device is not valid.');
    const device = parseDevice({
      userId: owner,
      algorithm: 'ed25519',
      publicKey: this.#publicKey(),
      credentialId: null,
      rpId: null,
      origin: null,
    });
    if (typeof device === 'string') throw new Error(`The device has an invalid ${device}.`);
    return device;
  }

  /** Returns the request body that enrols the device for a user. */
  enrolment(userId: string) {
    const { algorithm, publicKey } = this.asDevice(userId);
    return {
      userId,
      algorithm,
      publicKey,
      proof: { signature: this.#signed(sha256(enrolmentBytes(this.asDevice(userId)))) },
    };
  }

  keyId(): DeviceKeyId {
    return deviceKeyId({ algorithm: 'ed25519', publicKey: this.#publicKey() });
  }

  /** Returns the request body of an approval. @param digest lower-case hex of 32 bytes */
  sign(digest: string) {
    const { keyId, signature } = this.signed(digest);
    return { keyId: keyId as string, signature };
  }

  /** Returns the same signature as the service stores it. */
  signed(digest: string): DeviceSignature {
    return { keyId: this.keyId(), signature: this.#signed(hexToBytes(digest)), assertion: null };
  }

  /** Returns the Authorization header of a request to one vault, in place of a token. */
  authorization(request: Omit<DeviceRequest, 'keyId'>): string {
    const keyId = this.keyId();
    const signature = this.#signed(sha256(deviceRequestBytes({ ...request, keyId })));
    return `Device ${request.vaultId}.${keyId}.${request.atMs}.${signature}`;
  }

  #publicKey(): string {
    const { x = '' } = createPublicKey(this.#secret).export({ format: 'jwk' });
    return Buffer.from(x, 'base64url').toString('hex');
  }

  #signed(message: Uint8Array): string {
    return Buffer.from(sign(null, message, this.#secret)).toString('base64url');
  }
}
