import { enrolmentBytes } from '#domain/access/device.ts';
import { parseUserId } from '#domain/id.ts';
import type { Challenge } from '#dashboard/api.ts';

type Device = Challenge['devices'][number];

/** What is sent with an approval. */
export interface SignatureBody {
  readonly keyId: string;
  readonly signature: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
}

/** Of a person's devices those that this browser could have: passkeys of this site. */
export function passkeysOfThisSite(devices: readonly Device[]): readonly Device[] {
  return devices.filter(({ credentialId, rpId }) => credentialId !== null && rpId === location.hostname);
}

/** Of a person's devices the passkeys of the approval page. */
export function passkeysOfPage(devices: readonly Device[], origin: string | null): readonly Device[] {
  return devices.filter((device) => origin !== null && device.origin === origin);
}

/** Has one of these passkeys sign a digest, with its owner at the device. Throws when nobody does. */
export async function signWithPasskey(digest: string, devices: readonly Device[]): Promise<SignatureBody> {
  const assertion = await assertedBy(
    bytesOfHex(digest),
    passkeysOfThisSite(devices).map(({ credentialId }) => credentialId ?? ''),
  );
  const device = devices.find(({ credentialId }) => credentialId === assertion.credentialId);
  if (device === undefined) throw new Error('Another passkey answered.');
  const { credentialId: _credentialId, ...proof } = assertion;
  return { keyId: device.keyId, ...proof };
}

/**
 * A new passkey of this site, as a policy names it, with its own word that it is there: it signs what would be enrolled. Nobody's voice yet:
 * that is the signers' to say.
 */
export async function newPasskey(user: { readonly id: string; readonly name: string }) {
  const [rpId, userId] = [location.hostname, parseUserId(user.id)];
  if (userId === null) throw new Error('The server sent no valid user ID.');
  const created = await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: 'Conclave' },
      user: { id: new TextEncoder().encode(user.id), name: user.name, displayName: user.name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
      authenticatorSelection: { userVerification: 'required', residentKey: 'preferred' },
    },
  });
  if (!(created instanceof PublicKeyCredential)) throw new Error('No passkey was created.');
  const spki = new Uint8Array((created.response as AuthenticatorAttestationResponse).getPublicKey() ?? []);
  if (spki.length < POINT_BYTES) throw new Error('The passkey provided no public key.');
  const described = {
    userId,
    algorithm: 'webauthn-p256' as const,
    publicKey: compressed(spki.subarray(-POINT_BYTES)),
    credentialId: base64url(created.rawId),
    rpId,
    origin: location.origin,
  };
  const digest = await crypto.subtle.digest('SHA-256', enrolmentBytes(described));
  const { credentialId: _credentialId, ...proof } = await assertedBy(new Uint8Array(digest), [described.credentialId]);
  return { ...described, proof };
}

/** The point is what the structure ends with (RFC 5480), in 65 bytes; a policy has it in 33 (SEC 1 part 2.3.3). */
function compressed(point: Uint8Array): string {
  const isOdd = ((point.at(-1) ?? 0) & 1) === 1;
  return `${isOdd ? '03' : '02'}${hexOf(point.subarray(1, 33))}`;
}

const ES256 = -7;
const POINT_BYTES = 65;

async function assertedBy(challenge: Uint8Array<ArrayBuffer>, credentialIds: readonly string[]) {
  const asserted = await navigator.credentials.get({
    publicKey: {
      challenge,
      rpId: location.hostname,
      userVerification: 'required',
      allowCredentials: credentialIds.map((id) => ({ type: 'public-key', id: bytesOfBase64url(id) })),
    },
  });
  if (!(asserted instanceof PublicKeyCredential)) throw new Error('No passkey answered.');
  const { signature, authenticatorData, clientDataJSON } = asserted.response as AuthenticatorAssertionResponse;
  return {
    credentialId: base64url(asserted.rawId),
    signature: base64url(signature),
    authenticatorData: base64url(authenticatorData),
    clientDataJSON: base64url(clientDataJSON),
  };
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function bytesOfBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
