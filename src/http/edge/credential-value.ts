import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { TokenId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import { hashOfSecret, lastDigits, randomText, SECRET_LENGTH } from '#objects/token/secret.ts';

/**
 * The value of a credential:
 *
 *     service_pat_ or service_ses_ | id, 16 characters | secret, 32 characters (190 bits)
 *     | code, 7 characters (40 bits)
 *
 * An access token is sent in the Authorization header and a session in a cookie, and neither is
 * accepted instead of the other. The code is a keyed MAC over the rest. The edge refuses a forged
 * or mistyped value without a look-up, so guessing creates no objects. The code is no protection by
 * itself. Only the SHA-256 of the secret is passed on.
 */
const PREFIXES = { 'access-token': 'service_pat_', session: 'service_ses_' } as const;
export type CredentialKind = keyof typeof PREFIXES;

const ID_LENGTH = 16;
const CODE_LENGTH = 7;
const CODE_BYTES = 5;
const VALUE = new RegExp(
  `^(service_[a-z]{3}_)([0-9A-Za-z]{${ID_LENGTH}})([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CODE_LENGTH}})$`,
);

export interface PresentedCredential {
  readonly id: TokenId;
  /** Lower-case hex SHA-256 of the secret. */
  readonly secretHash: string;
}

/** A new secret: the hash that is stored, and the value for the one credential that has it. */
export interface NewSecret {
  readonly hash: string;
  /** Returns the value of the credential. `macKey` is the hex of 32 bytes. */
  readonly valueFor: (id: TokenId, macKey: string) => string;
}

export function newSecret(kind: CredentialKind): NewSecret {
  const secret = randomText(SECRET_LENGTH);
  const valueFor = (id: TokenId, macKey: string) => valueOf(kind, { id, secret }, macKey);
  return { hash: hashOfSecret(secret), valueFor };
}

/** Returns the value of a credential. `macKey` is the hex of 32 bytes. */
export function valueOf(
  kind: CredentialKind,
  { id, secret }: { readonly id: TokenId; readonly secret: string },
  macKey: string,
): string {
  return `${PREFIXES[kind]}${id}${secret}${codeOf(macKey, kind, `${id}${secret}`)}`;
}

/**
 * Returns the seed of a rotation: random without a key, and for a repeated key the same.
 *
 * @param macKey the hex of 32 bytes
 */
export function rotationSeed(id: TokenId, key: string | null, macKey: string): Uint8Array {
  if (key === null) return randomBytes(32);
  return macOf(macKey, `conclave/rotation/v1:${id}:${key}`);
}

export function newTokenId(): TokenId {
  const id = parseTokenId(randomText(ID_LENGTH));
  if (id === null) throw new Error('a new token id is not valid');
  return id;
}

/**
 * Returns the parts of a credential, or null when this service has not issued the value as a
 * credential of this kind. `macKey` is the hex of 32 bytes.
 */
export function parseCredential(kind: CredentialKind, value: string, macKey: string): PresentedCredential | null {
  const [, prefix, idText, secret, code] = VALUE.exec(value) ?? [];
  if (prefix !== PREFIXES[kind] || idText === undefined || secret === undefined || code === undefined) return null;
  const id = parseTokenId(idText);
  const isOurs = constantTimeEqual(code, codeOf(macKey, kind, `${idText}${secret}`));
  return id !== null && isOurs ? { id, secretHash: hashOfSecret(secret) } : null;
}

/**
 * The key schedule of a MAC key. It is half of the work, and the same for every request of an
 * isolate.
 */
let schedule: { readonly macKey: string; readonly mac: ReturnType<typeof hmac.create> } | null = null;

function macOf(macKey: string, text: string): Uint8Array {
  if (schedule?.macKey !== macKey) schedule = { macKey, mac: hmac.create(sha256, hexToBytes(macKey)) };
  return schedule.mac.clone().update(utf8ToBytes(text)).digest();
}

function codeOf(macKey: string, kind: CredentialKind, text: string): string {
  const mac = macOf(macKey, `conclave/${kind}/v1:${text}`);
  return lastDigits(mac.subarray(0, CODE_BYTES), CODE_LENGTH);
}
