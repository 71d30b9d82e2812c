import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
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
  /** Returns the value of the credential. `macKeys` is the setting TOKEN_MAC_KEY. */
  readonly valueFor: (id: TokenId, macKeys: string) => string;
}

export function newSecret(kind: CredentialKind): NewSecret {
  const secret = randomText(SECRET_LENGTH);
  const valueFor = (id: TokenId, macKeys: string) => valueOf(kind, { id, secret }, macKeys);
  return { hash: hashOfSecret(secret), valueFor };
}

/** Returns the value of a credential. `macKeys` is the setting TOKEN_MAC_KEY. */
export function valueOf(
  kind: CredentialKind,
  { id, secret }: { readonly id: TokenId; readonly secret: string },
  macKeys: string,
): string {
  return `${PREFIXES[kind]}${id}${secret}${codeOf(newMacOf(macKeys, codedText(kind, `${id}${secret}`)))}`;
}

/**
 * Returns the seed of a rotation: random without a key, and for a repeated key the same.
 *
 * @param macKeys the setting TOKEN_MAC_KEY
 */
export function rotationSeed(id: TokenId, key: string | null, macKeys: string): Uint8Array {
  if (key === null) return randomBytes(32);
  return newMacOf(macKeys, `conclave/rotation/v1:${id}:${key}`);
}

export function newTokenId(): TokenId {
  const id = parseTokenId(randomText(ID_LENGTH));
  if (id === null) throw new Error('a new token id is not valid');
  return id;
}

/**
 * Returns the parts of a credential, or null when this service has not issued the value as a
 * credential of this kind, under any key of `macKeys`, the setting TOKEN_MAC_KEY.
 */
export function parseCredential(kind: CredentialKind, value: string, macKeys: string): PresentedCredential | null {
  const [, prefix, idText, secret, code] = VALUE.exec(value) ?? [];
  if (prefix !== PREFIXES[kind] || idText === undefined || secret === undefined || code === undefined) return null;
  const id = parseTokenId(idText);
  const text = codedText(kind, `${idText}${secret}`);
  const isOurs = macsOf(macKeys).some((mac) => constantTimeEqual(code, codeOf(macOf(mac, text))));
  return id !== null && isOurs ? { id, secretHash: hashOfSecret(secret) } : null;
}

/**
 * The key schedules of the setting. They are half of the work, and the same for every request of an
 * isolate.
 */
let schedules: { readonly macKeys: string; readonly macs: readonly Mac[] } | null = null;
type Mac = ReturnType<typeof hmac.create>;

const MAC_KEYS = /^[0-9a-f]{64}( *, *[0-9a-f]{64})*$/i;

/** Returns the MACs of the setting, the one of new values first. Throws for any other form. */
function macsOf(macKeys: string): readonly Mac[] {
  if (schedules?.macKeys === macKeys) return schedules.macs;
  if (!MAC_KEYS.test(macKeys.trim())) throw new Error('TOKEN_MAC_KEY must be one or more keys of 64 hex digits.');
  const macs = macKeys.split(',').map((key) => hmac.create(sha256, hexToBytes(key.trim())));
  schedules = { macKeys, macs };
  return macs;
}

/** Throws for a setting TOKEN_MAC_KEY of another form. */
export function checkMacKeys(macKeys: string): void {
  macsOf(macKeys);
}

/** Returns texts by which the keys of the setting are recognised, and which reveal none of them. */
export function fingerprintsOf(macKeys: string): readonly string[] {
  return macsOf(macKeys).map((mac) => bytesToHex(macOf(mac, 'conclave/database-owner/v1').subarray(0, 16)));
}

function newMacOf(macKeys: string, text: string): Uint8Array {
  const [first] = macsOf(macKeys);
  if (first === undefined) throw new Error('TOKEN_MAC_KEY must have a key.');
  return macOf(first, text);
}

function macOf(mac: Mac, text: string): Uint8Array {
  return mac.clone().update(utf8ToBytes(text)).digest();
}

function codedText(kind: CredentialKind, text: string): string {
  return `conclave/${kind}/v1:${text}`;
}

function codeOf(mac: Uint8Array): string {
  return lastDigits(mac.subarray(0, CODE_BYTES), CODE_LENGTH);
}
