import { p256 } from '@noble/curves/nist.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { DeviceSignature, Passkey } from '#domain/access/device.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import { bytesOfText } from '#devices/base64url.ts';
import { verifyDeviceSignature } from '#devices/verify-signature.ts';

/** Why a signature is not accepted for its device. */
export type SignatureFault =
  /** It names another device, or does not have the form of its kind. */
  | 'malformed'
  /** It was signed for something other than an approval, such as the creation of a passkey. */
  | 'wrong-ceremony'
  | 'wrong-digest'
  | 'wrong-origin'
  | 'wrong-relying-party'
  /** The authenticator did not verify a finger, a face or a PIN. */
  | 'user-not-verified'
  | 'wrong-signature';

/** Web Authentication Level 2, part 6.1: the hash of the domain, the flags, and a counter. */
const RP_ID_HASH_BYTES = 32;
const MIN_AUTHENTICATOR_DATA_BYTES = 37;
const USER_PRESENT = 0b001;
const USER_VERIFIED = 0b100;

/**
 * Returns the fault of an assertion, or null. It follows the steps of Web Authentication Level 2,
 * part 7.2, "Verifying an Authentication Assertion", in their order, for a passkey whose owner,
 * domain and page are known from the policy. The counter (step 21) is not checked: passkeys that
 * are synchronized between devices have none.
 */
export async function assertionFault(
  passkey: Passkey,
  digest: string,
  { signature, assertion }: DeviceSignature,
): Promise<SignatureFault | null> {
  const texts = [signature, assertion?.authenticatorData, assertion?.clientDataJson];
  const [der, data, client] = texts.map(bytesOfText);
  if (der == null || data == null || client == null) return 'malformed';
  const [signed, clientData] = [compactOf(der), clientDataOf(client)];
  if (signed === null || clientData === null) return 'malformed';
  // Step 11: "Verify that the value of C.type is the string webauthn.get."
  if (clientData['type'] !== 'webauthn.get') return 'wrong-ceremony';
  // Step 12: "Verify that the value of C.challenge equals the base64url encoding of
  // options.challenge."
  if (clientData['challenge'] !== Buffer.from(hexToBytes(digest)).toString('base64url')) return 'wrong-digest';
  // Step 13: "Verify that the value of C.origin matches the Relying Party's origin." A page that is
  // embedded in another site's page is refused.
  if (
    clientData['origin'] !== passkey.origin ||
    clientData['crossOrigin'] === true ||
    clientData['topOrigin'] !== undefined
  ) {
    return 'wrong-origin';
  }
  // Step 15: "Verify that the rpIdHash in authData is the SHA-256 hash of the RP ID expected by the
  // Relying Party."
  if (data.length < MIN_AUTHENTICATOR_DATA_BYTES) return 'malformed';
  const rpIdHash = bytesToHex(data.subarray(0, RP_ID_HASH_BYTES));
  if (rpIdHash !== bytesToHex(sha256(utf8ToBytes(passkey.rpId)))) return 'wrong-relying-party';
  // Steps 16 and 17: "Verify that the User Present bit", and the "User Verified bit of the flags in
  // authData is set."
  const flags = data[RP_ID_HASH_BYTES] ?? 0;
  if ((flags & USER_PRESENT) === 0 || (flags & USER_VERIFIED) === 0) return 'user-not-verified';
  // Steps 19 and 20: "Let hash be the result of computing a hash over the cData using SHA-256", and
  // "verify that sig is a valid signature over the binary concatenation of authData and hash".
  // Authenticators return S of either half.
  const isRight = await verifyDeviceSignature(passkey, signed, concatBytes(data, sha256(client)));
  return isRight ? null : 'wrong-signature';
}

/**
 * Returns a signature in the form of Web Crypto, which is the two numbers. Part 6.5.5: a signature
 * of ES256 is their DER encoding.
 */
function compactOf(der: Uint8Array): Uint8Array | null {
  try {
    return p256.Signature.fromBytes(der, 'der').toBytes('compact');
  } catch {
    return null;
  }
}

/**
 * Returns the parsed client data, or null. Steps 5 and 6: "the result of running UTF-8 decode",
 * which removes a byte order mark, parsed as JSON.
 */
function clientDataOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  const clientData = jsonIn(new TextDecoder().decode(bytes));
  return typeof clientData === 'object' && clientData !== null ? { ...clientData } : null;
}
