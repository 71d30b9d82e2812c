/**
 * Identifiers. Only its parser creates a branded id, so a string that was never checked cannot
 * reach a query.
 *
 * A transaction id carries its vault (`7.01J9ZK…`), so a single read goes straight to the vault
 * object, without a directory. The second half is a ULID: 48 bits of time, which make ids sort by
 * age, and 80 random bits, which make them unguessable.
 */
export type VaultId = number & { readonly __brand: 'VaultId' };
export type TransactionId = string & { readonly __brand: 'TransactionId' };
export type UserId = string & { readonly __brand: 'UserId' };
export type TokenId = string & { readonly __brand: 'TokenId' };
export type KeyId = string & { readonly __brand: 'KeyId' };
export type DeviceKeyId = string & { readonly __brand: 'DeviceKeyId' };
export type PolicyChangeId = string & { readonly __brand: 'PolicyChangeId' };
export type CredentialResetId = string & { readonly __brand: 'CredentialResetId' };

/** Vault ids are SQL row ids. This is the largest that a JSON number carries exactly. */
const MAX_VAULT_ID = Number.MAX_SAFE_INTEGER;

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const TRANSACTION_ID = new RegExp(`^([1-9][0-9]{0,15})\\.(${ULID})$`);
const USER_ID = new RegExp(`^usr_${ULID}$`);
const POLICY_CHANGE_ID = new RegExp(`^pch_${ULID}$`);
const CREDENTIAL_RESET_ID = new RegExp(`^crs_${ULID}$`);
const TOKEN_ID = /^[0-9A-Za-z]{16}$/;
const DEVICE_KEY_ID = /^dev_[0-9a-f]{32}$/;
const KEY_ID = /^[a-z2-7]{26}$/;

/** Returns a vault id from 1 to 2^53 - 1, or null for anything else. */
export function parseVaultId(value: number): VaultId | null {
  return Number.isInteger(value) && value >= 1 && value <= MAX_VAULT_ID ? (value as VaultId) : null;
}

/**
 * Returns the vault id in a path: plain decimal digits, no sign, no leading zero. Returns null for
 * anything else.
 */
export function parseVaultIdText(text: string): VaultId | null {
  return /^[1-9][0-9]{0,15}$/.test(text) ? parseVaultId(Number.parseInt(text, 10)) : null;
}

export function parseTransactionId(text: string): TransactionId | null {
  const match = TRANSACTION_ID.exec(text);
  return match?.[1] !== undefined && parseVaultIdText(match[1]) !== null ? (text as TransactionId) : null;
}

/** Returns the vault of a transaction from its id. */
export function vaultOfTransaction(id: TransactionId): VaultId {
  const vaultId = parseVaultIdText(id.slice(0, id.indexOf('.')));
  if (vaultId === null) throw new Error('a parsed transaction id has no vault id');
  return vaultId;
}

/**
 * Returns a new id.
 *
 * @param nowMs Unix milliseconds
 * @param random at least 10 random bytes
 */
export function newTransactionId(vaultId: VaultId, nowMs: number, random: Uint8Array): TransactionId {
  const id = parseTransactionId(`${vaultId}.${ulid(nowMs, random)}`);
  if (id === null) throw new Error('a new transaction id is not valid');
  return id;
}

/**
 * Returns the lowest id that a transaction of this time can have. Ids of a vault sort by time.
 *
 * @param timeMs Unix milliseconds; a time before 1970 is 1970
 */
export function firstTransactionId(vaultId: VaultId, timeMs: number): TransactionId {
  return newTransactionId(vaultId, Math.max(0, timeMs), new Uint8Array(10));
}

export function parseUserId(text: string): UserId | null {
  return USER_ID.test(text) ? (text as UserId) : null;
}

/**
 * Returns a new id.
 *
 * @param nowMs Unix milliseconds
 * @param random at least 10 random bytes
 */
export function newUserId(nowMs: number, random: Uint8Array): UserId {
  const id = parseUserId(`usr_${ulid(nowMs, random)}`);
  if (id === null) throw new Error('a new user id is not valid');
  return id;
}

/** Stands for the token of a request that a device authenticated. No token has this id. */
export const NO_TOKEN = '0000000000000000' as TokenId;

export function parseTokenId(text: string): TokenId | null {
  return TOKEN_ID.test(text) ? (text as TokenId) : null;
}

export function parsePolicyChangeId(text: string): PolicyChangeId | null {
  return POLICY_CHANGE_ID.test(text) ? (text as PolicyChangeId) : null;
}

/**
 * Returns a new id.
 *
 * @param nowMs Unix milliseconds
 * @param random at least 10 random bytes
 */
export function newPolicyChangeId(nowMs: number, random: Uint8Array): PolicyChangeId {
  const id = parsePolicyChangeId(`pch_${ulid(nowMs, random)}`);
  if (id === null) throw new Error('a new policy change id is not valid');
  return id;
}

export function parseCredentialResetId(text: string): CredentialResetId | null {
  return CREDENTIAL_RESET_ID.test(text) ? (text as CredentialResetId) : null;
}

/**
 * Returns a new id.
 *
 * @param nowMs Unix milliseconds
 * @param random at least 10 random bytes
 */
export function newCredentialResetId(nowMs: number, random: Uint8Array): CredentialResetId {
  const id = parseCredentialResetId(`crs_${ulid(nowMs, random)}`);
  if (id === null) throw new Error('a new credential reset id is not valid');
  return id;
}

/**
 * Returns the id of a device key, which is the beginning of a hash over its public key, or null for
 * any other text.
 */
export function parseDeviceKeyId(text: string): DeviceKeyId | null {
  return DEVICE_KEY_ID.test(text) ? (text as DeviceKeyId) : null;
}

/**
 * Returns the id of a threshold key, or null for any other text. The id is base32 of the first 130
 * bits of a hash over suite and group public key.
 */
export function parseKeyId(text: string): KeyId | null {
  return KEY_ID.test(text) ? (text as KeyId) : null;
}

/** Crockford base32 without I, L, O and U, as in the ULID specification. */
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Returns ten characters of time and sixteen of randomness. `random` has at least 10 bytes, of
 * which the first 80 bits are used.
 */
export function ulid(nowMs: number, random: Uint8Array): string {
  if (random.length < 10) throw new Error('a ULID has fewer than 80 random bits');
  let bits = BigInt(nowMs);
  for (const byte of random.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = CROCKFORD.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

/** Returns the ids in the order in which a policy names its signers. */
export function sortedUserIds(userIds: readonly UserId[]): readonly UserId[] {
  return userIds.toSorted((a, b) => (a < b ? -1 : 1));
}
