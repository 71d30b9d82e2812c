import { hexToBytes } from '@noble/hashes/utils.js';
import { parseAmount } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { KEY_SCHEMES, type KeyScheme } from '#domain/asset/chain.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseDeviceKeyId, parseTokenId, parseTransactionId, parseUserId, parseVaultId } from '#domain/id.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { ATTEMPT_PURPOSES } from '#domain/transaction/intent.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import type { Approval } from '#domain/access/approval.ts';
import { type PartyIndex, parsePartyIndex } from '#mpc/party.ts';

/**
 * Parses what a coordinator sends. The coordinator is not trusted: a missing, extra or invalid
 * field throws `Malformed`, which the co-signer returns as a refusal. It is written by hand,
 * because a co-signer has as few dependencies as possible.
 */
export class Malformed extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the object itself, which has exactly these fields, and may have the optional ones. */
export function fieldsOf(value: unknown, names: readonly string[], optional: readonly string[] = []): Fields {
  if (!isJsonObject(value)) throw new Malformed('not an object');
  const extra = Object.keys(value).filter((name) => !names.includes(name) && !optional.includes(name));
  const missing = names.filter((name) => !Object.hasOwn(value, name));
  if (extra.length > 0 || missing.length > 0)
    throw new Malformed(`missing or unknown fields: ${[...extra, ...missing].join()}`);
  return value;
}

/**
 * Returns the text itself. A lone surrogate has no bytes in UTF-8, so no digest would distinguish
 * it from U+FFFD.
 */
export function textOf(value: unknown, longest = 4096): string {
  if (typeof value !== 'string' || value.length > longest) throw new Malformed('not a text');
  if (!value.isWellFormed()) throw new Malformed('not well-formed Unicode');
  return value;
}

export function wholeNumberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Malformed('not a whole number');
  return value;
}

export function listOf<T>(value: unknown, longest: number, read: (item: unknown) => T): readonly T[] {
  if (!Array.isArray(value) || value.length > longest) throw new Malformed('not a list');
  return value.map(read);
}

/** Returns lower-case hex of exactly this many bytes. */
export function hexOf(value: unknown, bytes: number): string {
  const text = textOf(value, bytes * 2);
  if (text.length !== bytes * 2 || !/^[0-9a-f]*$/.test(text)) throw new Malformed('not hex of this length');
  return text;
}

export function bytesOf(value: unknown, bytes: number): Uint8Array {
  return hexToBytes(hexOf(value, bytes));
}

/** Parses `{ vaultId, version, hash }`, which names a policy. */
export function policyNameOf(value: unknown): PolicyName {
  const { vaultId, version, hash } = fieldsOf(value, ['vaultId', 'version', 'hash']);
  const number = wholeNumberOf(version);
  if (number < 1) throw new Malformed('not a version');
  return { vaultId: present(parseVaultId(wholeNumberOf(vaultId))), version: number, hash: hexOf(hash, 32) };
}

export function partyOf(value: unknown): PartyIndex {
  return present(parsePartyIndex(wholeNumberOf(value)));
}

/** Parses a map from co-signer number to values: `{ "1": ..., "3": ... }`. */
export function byPartyOf<T>(value: unknown, read: (item: unknown) => T): ReadonlyMap<PartyIndex, T> {
  if (!isJsonObject(value)) throw new Malformed('not an object');
  const entries = Object.entries(value).map(([name, item]) => {
    if (!/^[1-5]$/.test(name)) throw new Malformed('not a co-signer');
    return [partyOf(Number.parseInt(name, 10)), read(item)] as const;
  });
  return new Map(entries);
}

/** Leaves room for the largest message of any round: twelve signing rounds of 54 kB each. */
const MAX_ENVELOPE_BYTES = 750_000;

/**
 * Returns the bytes of an envelope, which the first version of the requests has in base64.
 *
 * Parses base64 in whole groups of four. An invalid character makes the bytes fewer than the length
 * implies, so the characters need no check of their own.
 */
export function envelopeOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) {
    if (value.length > MAX_ENVELOPE_BYTES) throw new Malformed('too many bytes');
    return value;
  }
  const text = textOf(value, (MAX_ENVELOPE_BYTES / 3) * 4);
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  const padding = text.length - text.replace(/={1,2}$/, '').length;
  if (text.length % 4 !== 0 || bytes.length !== (text.length / 4) * 3 - padding) throw new Malformed('not base64');
  return bytes;
}

/** Returns the base64 that `envelopeOf` parses. */
export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** Calldata and messages are the longest texts. Their content is checked later. */
const MAX_CONTENT_LENGTH = 64 * 1024;

export function transactionIdOf(value: unknown): TransactionId {
  return present(parseTransactionId(textOf(value, 64)));
}

/** Parses the bytes to sign: hex of calldata and a frame, or of a message. */
export function payloadOf(value: unknown): string {
  return textOf(value, MAX_CONTENT_LENGTH);
}

/**
 * Bitcoin nodes relay transactions of at most 100 kB. There are at most as many items as ECDSA
 * spends UTXOs in one transaction.
 */
const MAX_EVIDENCE_LENGTH = 200_000;
export const MAX_EVIDENCE_ITEMS = 12;

export function evidenceOf(value: unknown): string {
  const text = textOf(value, MAX_EVIDENCE_LENGTH);
  if (!/^([0-9a-f]{2})+$/.test(text)) throw new Malformed('not hex');
  return text;
}

export function purposeOf(value: unknown): AttemptPurpose {
  const purpose = ATTEMPT_PURPOSES.find((one) => one === value);
  if (purpose === undefined) throw new Malformed('not a purpose');
  return purpose;
}

export function schemeOf(value: unknown): KeyScheme {
  const scheme = KEY_SCHEMES.find((one) => one === value);
  if (scheme === undefined) throw new Malformed('not a key scheme');
  return scheme;
}

export function approvalOf(value: unknown): Approval {
  const fields = fieldsOf(value, ['actor', 'digest', 'device', 'atMs']);
  const actor = fieldsOf(fields['actor'], ['userId', 'tokenId']);
  return {
    actor: {
      userId: present(parseUserId(textOf(actor['userId'], 64))),
      tokenId: present(parseTokenId(textOf(actor['tokenId'], 64))),
      // Only the coordinator uses the origin of an approval.
      address: null,
    },
    digest: hexOf(fields['digest'], 32),
    device: fields['device'] === null ? null : deviceSignatureOf(fields['device']),
    atMs: wholeNumberOf(fields['atMs']),
  };
}

function deviceSignatureOf(value: unknown): DeviceSignature {
  const { keyId, signature, assertion } = fieldsOf(value, ['keyId', 'signature', 'assertion']);
  const parts = assertion === null ? null : fieldsOf(assertion, ['authenticatorData', 'clientDataJson']);
  return {
    keyId: present(parseDeviceKeyId(textOf(keyId, 64))),
    signature: textOf(signature, MAX_PART_LENGTH),
    assertion:
      parts === null
        ? null
        : {
            authenticatorData: textOf(parts['authenticatorData'], MAX_PART_LENGTH),
            clientDataJson: textOf(parts['clientDataJson'], MAX_PART_LENGTH),
          },
  };
}

/**
 * The maximum of each part that an authenticator signs. Longer parts have extensions that were not
 * requested.
 */
const MAX_PART_LENGTH = 8192;

export function amountOf(value: unknown): Amount {
  return present(parseAmount(textOf(value, 80)));
}

function present<T>(value: T | null): T {
  if (value === null) throw new Malformed('not of its kind');
  return value;
}
