import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { InvalidRequest } from '#review/invalid-request.ts';
import type { EnrolmentRequest, PasskeySignature } from '#domain/access/approval-page-message.ts';
import type { Passkey } from '#domain/access/device.ts';
import { enrolmentBytes } from '#domain/access/device.ts';
import { parseUserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';

/**
 * Returns the passkeys of this page that the policy lists for a person. The host and the origin
 * match exactly; a parent domain does not match.
 */
export function passkeysOf({ devices }: Policy, userId: string): readonly Passkey[] {
  const passkeys = devices.filter((device) => device.algorithm === 'webauthn-p256');
  return passkeys.filter(
    ({ userId: owner, rpId, origin }) => owner === userId && rpId === location.hostname && origin === location.origin,
  );
}

/**
 * Signs a digest that this page computed with one of these passkeys. Throws when the person
 * declines.
 */
export async function signWithPasskey(
  digest: string,
  passkeys: readonly Passkey[],
): Promise<PasskeySignature & { readonly keyId: string }> {
  const { credentialId, ...proof } = await assertedBy(
    Uint8Array.from(hexToBytes(digest)),
    passkeys.map((passkey) => passkey.credentialId),
  );
  const passkey = passkeys.find((one) => one.credentialId === credentialId);
  if (passkey === undefined) throw new InvalidRequest('A passkey that is not in the policy answered.');
  return { keyId: passkey.keyId, ...proof };
}

/**
 * Creates a passkey of this page, with its own signature as proof of possession. A policy change
 * must adopt it.
 *
 * It never replaces another passkey. An authenticator replaces a discoverable credential with the
 * same user handle (Web Authentication Level 2, part 6.3.2), so each passkey gets a handle of its
 * own; the policy names its owner. Approvals name their credentials, so none needs to be
 * discoverable.
 */
export async function newPasskey(user: Pick<EnrolmentRequest, 'userId' | 'userName' | 'credentialIds'>) {
  const [rpId, userId] = [location.hostname, parseUserId(user.userId)];
  if (userId === null) throw new InvalidRequest('The request contains no valid user ID.');
  const created = await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: 'Conclave approvals' },
      user: {
        id: crypto.getRandomValues(new Uint8Array(USER_ID_BYTES)),
        name: user.userName,
        displayName: user.userName,
      },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
      excludeCredentials: user.credentialIds.map(credentialOf),
      authenticatorSelection: { userVerification: 'required', residentKey: 'discouraged' },
    },
  });
  const response = created instanceof PublicKeyCredential ? created.response : null;
  if (!(created instanceof PublicKeyCredential) || !(response instanceof AuthenticatorAttestationResponse)) {
    throw new InvalidRequest('No passkey was created.');
  }
  const spki = new Uint8Array(response.getPublicKey() ?? []);
  if (spki.length < POINT_BYTES) throw new InvalidRequest('The passkey provided no public key.');
  const described = {
    userId,
    algorithm: 'webauthn-p256' as const,
    publicKey: compressed(spki.subarray(-POINT_BYTES)),
    credentialId: base64url(created.rawId),
    rpId,
    origin: location.origin,
  };
  const digest = Uint8Array.from(sha256(enrolmentBytes(described)));
  const { credentialId: _credentialId, ...proof } = await assertedBy(digest, [described.credentialId]);
  return { ...described, proof };
}

const ES256 = -7;
/** The most that Web Authentication allows, part 5.4.3. */
const USER_ID_BYTES = 64;
const POINT_BYTES = 65;

/**
 * Compresses the public key. The structure ends with the point in 65 bytes (RFC 5480); a policy
 * stores it in 33 bytes (SEC 1, part 2.3.3).
 */
function compressed(point: Uint8Array): string {
  const isOdd = ((point.at(-1) ?? 0) & 1) === 1;
  return `${isOdd ? '03' : '02'}${bytesToHex(point.subarray(1, 33))}`;
}

async function assertedBy(
  challenge: Uint8Array<ArrayBuffer>,
  credentialIds: readonly string[],
): Promise<PasskeySignature & { readonly credentialId: string }> {
  const asserted = await navigator.credentials.get({
    publicKey: {
      challenge,
      rpId: location.hostname,
      userVerification: 'required',
      allowCredentials: credentialIds.map(credentialOf),
    },
  });
  const response = asserted instanceof PublicKeyCredential ? asserted.response : null;
  if (!(asserted instanceof PublicKeyCredential) || !(response instanceof AuthenticatorAssertionResponse)) {
    throw new InvalidRequest('No passkey answered.');
  }
  return {
    credentialId: base64url(asserted.rawId),
    signature: base64url(response.signature),
    authenticatorData: base64url(response.authenticatorData),
    clientDataJSON: base64url(response.clientDataJSON),
  };
}

function credentialOf(id: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: bytesOfBase64url(id) };
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function bytesOfBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}
