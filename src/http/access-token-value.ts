import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { equalTexts } from '#domain/equal-texts.ts';
import type { TokenId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';

/**
 * The value of a personal access token:
 *
 *     service_pat_ | id, 16 characters | secret, 32 characters (190 bits) | code, 7 characters (40 bits)
 *
 * The code is a keyed MAC over the rest. A forged or mistyped value is refused at the edge without a look-up, so guessing
 * creates no objects; it is no protection by itself. Only the SHA-256 of the secret goes on from here.
 */
const TOKEN_PREFIX = 'service_pat_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 16;
const SECRET_LENGTH = 32;
const CODE_LENGTH = 7;
const CODE_BYTES = 5;
const VALUE = new RegExp(
  `^${TOKEN_PREFIX}([0-9A-Za-z]{${ID_LENGTH}})([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CODE_LENGTH}})$`,
);

export interface PresentedToken {
  readonly id: TokenId;
  /** Lower-case hex SHA-256 of the secret. */
  readonly secretHash: string;
}

/** A secret on its way to its owner: what is stored of it, and the value for the one token that has it. */
export interface NewSecret {
  readonly hash: string;
  /** @param macKey hex of 32 bytes */
  readonly valueFor: (id: TokenId, macKey: string) => string;
}

export function newSecret(): NewSecret {
  const secret = randomText(SECRET_LENGTH);
  const valueFor = (id: TokenId, macKey: string) => `${TOKEN_PREFIX}${id}${secret}${codeOf(macKey, id, secret)}`;
  return { hash: hashOf(secret), valueFor };
}

export function newTokenId(): TokenId {
  const id = parseTokenId(randomText(ID_LENGTH));
  if (id === null) throw new Error('a new token id must parse');
  return id;
}

/** Gives null for anything that this service has not issued. @param macKey hex of 32 bytes */
export function parseTokenValue(value: string, macKey: string): PresentedToken | null {
  const match = VALUE.exec(value);
  const [, idText, secret, code] = match ?? [];
  if (idText === undefined || secret === undefined || code === undefined) return null;
  const id = parseTokenId(idText);
  return id !== null && equalTexts(code, codeOf(macKey, idText, secret)) ? { id, secretHash: hashOf(secret) } : null;
}

function hashOf(secret: string): string {
  return bytesToHex(sha256(utf8ToBytes(secret)));
}

/** The key schedule of a MAC key: half of the work, and the same for every request of an isolate. */
let schedule: { readonly macKey: string; readonly mac: ReturnType<typeof hmac.create> } | null = null;

function codeOf(macKey: string, id: string, secret: string): string {
  if (schedule?.macKey !== macKey) schedule = { macKey, mac: hmac.create(sha256, hexToBytes(macKey)) };
  const mac = schedule.mac
    .clone()
    .update(utf8ToBytes(`conclave/access-token/v1:${id}${secret}`))
    .digest();
  let number = BigInt(`0x${bytesToHex(mac.subarray(0, CODE_BYTES))}`);
  let text = '';
  for (let i = 0; i < CODE_LENGTH; i++) {
    text = ALPHABET.charAt(Number(number % 62n)) + text;
    number /= 62n;
  }
  return text;
}

/** Uniform over the alphabet: bytes from 248 on would favour its first letters, and are thrown away. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
