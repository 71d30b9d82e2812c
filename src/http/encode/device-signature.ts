import * as z from 'zod';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import { DEVICE_ALGORITHMS, enrolmentBytes } from '#domain/access/device.ts';
import { isOfOtherOrigin } from '#devices/approval-origin.ts';
import { parseDevice } from '#devices/device-key.ts';
import { signatureFault } from '#devices/device-signature.ts';
import { parseDeviceKeyId, parseUserId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { FieldFault } from '#domain/field-fault.ts';

const base64url = z
  .string()
  .max(8192)
  .regex(/^[A-Za-z0-9_-]+$/, 'Must be base64url without padding.');

const signatureFields = {
  signature: base64url.meta({ description: 'Signature of the digest: 64 bytes for Ed25519, DER for a passkey' }),
  authenticatorData: base64url.optional().meta({ description: 'Present for passkeys only' }),
  clientDataJSON: base64url.optional().meta({ description: 'Present for passkeys only; its challenge is the digest' }),
};

/** The id of a known device. */
export const deviceKeyId = z
  .string()
  .max(64)
  .refine((text) => parseDeviceKeyId(text) !== null, 'Must be the id of a device key.');

/** The signature of a digest by a device. */
export const deviceSignatureBody = z.strictObject({ keyId: deviceKeyId, ...signatureFields }).meta({
  examples: [
    {
      keyId: 'dev_00112233445566778899aabbccddeeff',
      signature: 'nHj0ZQ0i4GJzIlwNwWFlxGZ8xQ0fCu9D1gQeQdkqp3zXb2mF3pUu5uY1iB1Jq9pW3lqk6n7Yv0oQbWmXK1s8Ag',
    },
  ],
});

/**
 * Returns the schema of a body with further fields besides a device signature, which may be absent
 * as a whole.
 */
export function withOptionalSignature<S extends z.ZodRawShape>(fields: S) {
  return z.strictObject({ ...deviceSignatureBody.partial().shape, ...fields }).superRefine((body, context) => {
    const present = Object.keys(deviceSignatureBody.shape).filter((name) => name in body);
    for (const name of present.length === 0 ? [] : ['keyId', 'signature']) {
      if (!present.includes(name)) context.addIssue({ code: 'custom', path: [name], message: 'A signature needs it.' });
    }
  });
}

/**
 * The schema of a device signature in responses, with which a verifier can check an approval later.
 */
export const deviceSignatureSchema = z.strictObject({
  keyId: z.string(),
  signature: z.string(),
  authenticatorData: z.string().nullable(),
  clientDataJSON: z.string().nullable(),
});

/** A new device of a user, with a signature that proves possession of its key. */
export const deviceBody = z.strictObject({
  userId: z.string().max(64),
  algorithm: z.enum(DEVICE_ALGORITHMS),
  publicKey: z
    .string()
    .max(130)
    .meta({ description: 'Hex: 32 bytes for Ed25519; a point of 33 or 65 bytes for P-256' }),
  credentialId: base64url.optional().meta({ description: 'Passkeys only, together with rpId and origin' }),
  rpId: z.string().max(253).optional(),
  origin: z.string().max(300).optional(),
  proof: z.strictObject(signatureFields).meta({
    description: 'Signature by this device of the SHA-256 of the canonical bytes of conclave/device/v1',
  }),
});

/** The maximum number of new devices whose proofs fit into a body. */
export const MAX_NEW_DEVICES = 20;

type SignatureFields = { readonly [Name in keyof z.infer<typeof deviceSignatureBody>]?: string | undefined };

/** Returns the device signature in a body, or null without one. */
export function deviceSignatureIn(body: SignatureFields | null): DeviceSignature | null {
  const { keyId = '', signature, ...assertion } = body ?? {};
  const parsed = parseDeviceKeyId(keyId);
  return parsed === null || signature === undefined ? null : { keyId: parsed, ...signed({ signature, ...assertion }) };
}

export function deviceSignatureRecord({ keyId, signature, assertion }: DeviceSignature) {
  const { authenticatorData = null, clientDataJson: clientDataJSON = null } = assertion ?? {};
  return { keyId, signature, authenticatorData, clientDataJSON };
}

/**
 * Returns the devices in a list, or all faults of the list. A passkey is accepted only from the
 * approval pages of these origins. `pointer` is the JSON pointer of the list.
 */
export async function readDevices(
  list: readonly z.infer<typeof deviceBody>[],
  pointer: string,
  pages: readonly string[],
): Promise<Result<readonly Device[], readonly FieldFault[]>> {
  const [devices, faults]: [Device[], FieldFault[]] = [[], []];
  for (const [i, body] of list.entries()) {
    const read = await readDevice(body, pages);
    if (read.ok) devices.push(read.value);
    else faults.push({ ...read.refusal, pointer: `${pointer}/${i}/${read.refusal.pointer}` });
  }
  return faults.length === 0 ? accepted(devices) : refused(faults);
}

async function readDevice(
  body: z.infer<typeof deviceBody>,
  pages: readonly string[],
): Promise<Result<Device, FieldFault>> {
  const { algorithm, publicKey, credentialId = null, rpId = null, origin = null, proof } = body;
  const fault = (pointer: string, detail: string) => refused({ pointer, code: 'invalid', detail });
  const userId = parseUserId(body.userId);
  if (userId === null) return fault('userId', 'There is no user with this id.');
  const device = parseDevice({ userId, algorithm, publicKey, credentialId, rpId, origin });
  if (typeof device === 'string') return fault(device, `The value is not valid for ${algorithm}.`);
  if (algorithm === 'webauthn-p256' && pages.length === 0) {
    return fault('origin', 'Passkeys need an approval page, and this service has none (APPROVAL_ORIGIN).');
  }
  if (isOfOtherOrigin(device, pages)) return fault('origin', 'Must be the origin of an approval page.');
  const digest = bytesToHex(sha256(enrolmentBytes(device)));
  const wrong = await signatureFault(device, digest, { keyId: device.keyId, ...signed(proof) });
  return wrong === null
    ? accepted(device)
    : fault('proof', `The proof is not a valid signature of the device: ${wrong}.`);
}

function signed({ signature, authenticatorData, clientDataJSON }: z.infer<typeof deviceBody>['proof']) {
  if (authenticatorData === undefined && clientDataJSON === undefined) return { signature, assertion: null };
  // One field without the other is refused as malformed during verification.
  const assertion = { authenticatorData: authenticatorData ?? '', clientDataJson: clientDataJSON ?? '' };
  return { signature, assertion };
}
