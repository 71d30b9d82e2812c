import { hexToBytes } from '@noble/hashes/utils.js';
import { parseAmount } from '#domain/amount.ts';
import type { Amount } from '#domain/amount.ts';
import { KEY_SCHEMES, type KeyScheme } from '#domain/chain.ts';
import type { Device, DeviceSignature } from '#domain/device.ts';
import { APPROVAL_MODES, MOST_DEVICES } from '#domain/device.ts';
import { parseDevice } from '#devices/device-key.ts';
import type { TransactionId } from '#domain/id.ts';
import {
  parseDeviceKeyId,
  parsePolicyChangeId,
  parseTokenId,
  parseTransactionId,
  parseUserId,
  parseVaultId,
} from '#domain/id.ts';
import { ATTEMPT_PURPOSES, type AttemptPurpose, type Intent, MESSAGE_FORMATS } from '#domain/intent.ts';
import { type Policy, policyFault } from '#domain/policy.ts';
import type { PolicyMandate } from '#domain/policy-change.ts';
import { MOST_RULES, type Rules } from '#domain/rules.ts';
import type { Vote } from '#domain/transaction.ts';
import { type PartyIndex, parsePartyIndex } from '#mpc/party.ts';

/**
 * Reads what a coordinator sends. It is not trusted: a missing, extra or odd field throws `Malformed`, which the node answers
 * with a refusal. Written by hand, because a co-signer carries as few dependencies as it can.
 */
export class Malformed extends Error {}

export type Fields = Readonly<Record<string, unknown>>;

/** The object itself, with exactly these fields. */
export function fieldsOf(value: unknown, names: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Malformed('not an object');
  const fields = value as Fields;
  const extra = Object.keys(fields).filter((name) => !names.includes(name));
  const missing = names.filter((name) => !Object.hasOwn(fields, name));
  if (extra.length > 0 || missing.length > 0) throw new Malformed(`fields: ${[...extra, ...missing].join()}`);
  return fields;
}

/** Returns the text itself. A lone surrogate has no bytes in UTF-8, so no digest would tell it from U+FFFD. */
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

/** Lower-case hex of exactly this many bytes. */
export function hexOf(value: unknown, bytes: number): string {
  const text = textOf(value, bytes * 2);
  if (text.length !== bytes * 2 || !/^[0-9a-f]*$/.test(text)) throw new Malformed('not hex of this length');
  return text;
}

export function bytesOf(value: unknown, bytes: number): Uint8Array {
  return hexToBytes(hexOf(value, bytes));
}

export function partyOf(value: unknown): PartyIndex {
  return present(parsePartyIndex(wholeNumberOf(value)));
}

/** Node index to something: `{ "1": ..., "3": ... }`. */
export function byPartyOf<T>(value: unknown, read: (item: unknown) => T): ReadonlyMap<PartyIndex, T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Malformed('not an object');
  const entries = Object.entries(value as Fields).map(([name, item]) => {
    if (!/^[1-5]$/.test(name)) throw new Malformed('not a node');
    return [partyOf(Number.parseInt(name, 10)), read(item)] as const;
  });
  return new Map(entries);
}

/** The largest message of any round, with room, in base64: twelve signing rounds of 54 kB each. */
const LONGEST_ENVELOPE = 1_000_000;

/** Base64, as whole groups of four. A character that is none of it makes the bytes fewer than the text says: no need to look at each. */
export function envelopeOf(value: unknown): Uint8Array {
  const text = textOf(value, LONGEST_ENVELOPE);
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  const padding = text.length - text.replace(/={1,2}$/, '').length;
  if (text.length % 4 !== 0 || bytes.length !== (text.length / 4) * 3 - padding) throw new Malformed('not base64');
  return bytes;
}

/** As `envelopeOf` reads it. */
export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

const FRAME_FIELDS = [
  'kind',
  'vaultId',
  'transactionId',
  'chain',
  'from',
  'policyVersion',
  'policyHash',
  'note',
  'createdAtMs',
  'expiresAtMs',
] as const;

/** Calldata and messages are the longest texts that there are; what they may hold is looked at later. */
const LONGEST_CONTENT = 64 * 1024;

export function intentOf(value: unknown): Intent {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : null;
  switch (kind) {
    case 'transfer': {
      const isChild = Object.hasOwn(Object(value), 'paysFor');
      const own = ['to', 'tokenAddress', 'amount', 'maxFee', 'lookalikeOf', ...(isChild ? ['paysFor'] : [])];
      const fields = fieldsOf(value, [...FRAME_FIELDS, ...own]);
      return {
        kind,
        ...frameOf(fields),
        ...(isChild ? { paysFor: hexOf(fields['paysFor'], 32) } : {}),
        to: textOf(fields['to'], 128),
        tokenAddress: fields['tokenAddress'] === null ? null : textOf(fields['tokenAddress'], 128),
        amount: amountOf(fields['amount']),
        maxFee: amountOf(fields['maxFee']),
        lookalikeOf: lookalikeOf(fields),
      };
    }
    case 'contract-interaction': {
      const fields = fieldsOf(value, [...FRAME_FIELDS, 'to', 'data', 'value', 'maxFee', 'lookalikeOf']);
      return {
        kind,
        ...frameOf(fields),
        to: textOf(fields['to'], 128),
        data: textOf(fields['data'], LONGEST_CONTENT),
        value: amountOf(fields['value']),
        maxFee: amountOf(fields['maxFee']),
        lookalikeOf: lookalikeOf(fields),
      };
    }
    case 'erc20-approve': {
      const fields = fieldsOf(value, [...FRAME_FIELDS, 'tokenAddress', 'spender', 'amount', 'maxFee', 'lookalikeOf']);
      return {
        kind,
        ...frameOf(fields),
        tokenAddress: textOf(fields['tokenAddress'], 128),
        spender: textOf(fields['spender'], 128),
        amount: amountOf(fields['amount']),
        maxFee: amountOf(fields['maxFee']),
        lookalikeOf: lookalikeOf(fields),
      };
    }
    case 'message': {
      const fields = fieldsOf(value, [...FRAME_FIELDS, 'format', 'message']);
      const format = MESSAGE_FORMATS.find((one) => one === fields['format']);
      if (format === undefined) throw new Malformed('format');
      return { kind, ...frameOf(fields), format, message: textOf(fields['message'], LONGEST_CONTENT) };
    }
    default:
      throw new Malformed('kind');
  }
}

function frameOf(fields: Fields) {
  return {
    vaultId: present(parseVaultId(wholeNumberOf(fields['vaultId']))),
    transactionId: transactionIdOf(fields['transactionId']),
    chain: textOf(fields['chain'], 64),
    from: textOf(fields['from'], 128),
    policyVersion: wholeNumberOf(fields['policyVersion']),
    policyHash: hexOf(fields['policyHash'], 32),
    note: fields['note'] === null ? null : textOf(fields['note']),
    createdAtMs: wholeNumberOf(fields['createdAtMs']),
    expiresAtMs: wholeNumberOf(fields['expiresAtMs']),
  };
}

export function transactionIdOf(value: unknown): TransactionId {
  return present(parseTransactionId(textOf(value, 64)));
}

function lookalikeOf(fields: Fields): string | null {
  return fields['lookalikeOf'] === null ? null : textOf(fields['lookalikeOf'], 128);
}

/** The bytes to sign: hex of calldata and a frame, or of a message. */
export function payloadOf(value: unknown): string {
  return textOf(value, LONGEST_CONTENT);
}

/** A transaction that nodes of Bitcoin relay has 100 kB at most, and as many as coins are spent at once by ECDSA. */
const LONGEST_EVIDENCE = 200_000;
export const MOST_EVIDENCE = 12;

export function evidenceOf(value: unknown): string {
  const text = textOf(value, LONGEST_EVIDENCE);
  if (!/^([0-9a-f]{2})+$/.test(text)) throw new Malformed('not hex');
  return text;
}

export function purposeOf(value: unknown): AttemptPurpose {
  const purpose = ATTEMPT_PURPOSES.find((one) => one === value);
  if (purpose === undefined) throw new Malformed('purpose');
  return purpose;
}

export function schemeOf(value: unknown): KeyScheme {
  const scheme = KEY_SCHEMES.find((one) => one === value);
  if (scheme === undefined) throw new Malformed('scheme');
  return scheme;
}

export function voteOf(value: unknown): Vote {
  const fields = fieldsOf(value, ['actor', 'digest', 'device', 'atMs']);
  const actor = fieldsOf(fields['actor'], ['userId', 'tokenId']);
  return {
    actor: {
      userId: present(parseUserId(textOf(actor['userId'], 64))),
      tokenId: present(parseTokenId(textOf(actor['tokenId'], 64))),
      // Where a voice came from is the coordinator's affair.
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
    signature: textOf(signature, LONGEST_PART),
    assertion:
      parts === null
        ? null
        : {
            authenticatorData: textOf(parts['authenticatorData'], LONGEST_PART),
            clientDataJson: textOf(parts['clientDataJson'], LONGEST_PART),
          },
  };
}

/** Of what an authenticator signs; longer ones have extensions that nobody has asked for. */
const LONGEST_PART = 8192;

const POLICY_FIELDS = [
  'vaultId',
  'version',
  'signers',
  'threshold',
  'approvalMode',
  'devices',
  'rules',
  'previousHash',
] as const;

/** A key that is none, or that is called by the name of another, is as good as no policy. */
function deviceOf(value: unknown): Device {
  const isPasskey = Object(value).algorithm === 'webauthn-p256';
  const own = isPasskey ? ['credentialId', 'rpId', 'origin'] : [];
  const fields = fieldsOf(value, ['keyId', 'userId', 'algorithm', 'publicKey', ...own]);
  const text = (name: string) => (isPasskey ? textOf(fields[name]) : null);
  const device = parseDevice({
    userId: present(parseUserId(textOf(fields['userId'], 64))),
    algorithm: textOf(fields['algorithm'], 64),
    publicKey: textOf(fields['publicKey'], 130),
    credentialId: text('credentialId'),
    rpId: text('rpId'),
    origin: text('origin'),
  });
  if (typeof device === 'string' || device.keyId !== fields['keyId']) throw new Malformed('device');
  if (device.publicKey !== fields['publicKey']) throw new Malformed('device');
  return device;
}

export function policyOf(value: unknown): Policy {
  const fields = fieldsOf(value, POLICY_FIELDS);
  const approvalMode = APPROVAL_MODES.find((one) => one === fields['approvalMode']);
  if (approvalMode === undefined) throw new Malformed('approvalMode');
  const policy: Policy = {
    vaultId: present(parseVaultId(wholeNumberOf(fields['vaultId']))),
    version: wholeNumberOf(fields['version']),
    signers: listOf(fields['signers'], 100, (signer) => present(parseUserId(textOf(signer, 64)))),
    threshold: wholeNumberOf(fields['threshold']),
    approvalMode,
    devices: listOf(fields['devices'], MOST_DEVICES, deviceOf),
    rules: rulesOf(fields['rules']),
    previousHash: hexOf(fields['previousHash'], 32),
  };
  if (policyFault(policy) !== null) throw new Malformed('policy');
  return policy;
}

function rulesOf(value: unknown): Rules {
  const fields = fieldsOf(value, ['addressBook', 'recipients', 'limits', 'higherThresholds', 'unreadableThreshold']);
  const recipients = fields['recipients'];
  if (recipients !== 'anyone' && recipients !== 'address-book') throw new Malformed('recipients');
  return {
    recipients,
    addressBook: listOf(fields['addressBook'], MOST_RULES, (entry) => {
      const { chain, address, name } = fieldsOf(entry, ['chain', 'address', 'name']);
      return { chain: textOf(chain, 64), address: textOf(address, 128), name: textOf(name, 128) };
    }),
    limits: listOf(fields['limits'], MOST_RULES, (limit) => {
      const { chain, tokenAddress, perTransaction, perDay } = fieldsOf(limit, [...ASSET, 'perTransaction', 'perDay']);
      return {
        ...assetOf(chain, tokenAddress),
        perTransaction: perTransaction === null ? null : amountOf(perTransaction),
        perDay: perDay === null ? null : amountOf(perDay),
      };
    }),
    higherThresholds: listOf(fields['higherThresholds'], MOST_RULES, (step) => {
      const { chain, tokenAddress, above, threshold } = fieldsOf(step, [...ASSET, 'above', 'threshold']);
      return { ...assetOf(chain, tokenAddress), above: amountOf(above), threshold: wholeNumberOf(threshold) };
    }),
    unreadableThreshold: fields['unreadableThreshold'] === null ? null : wholeNumberOf(fields['unreadableThreshold']),
  };
}

const ASSET = ['chain', 'tokenAddress'] as const;

function assetOf(chain: unknown, tokenAddress: unknown) {
  return { chain: textOf(chain, 64), tokenAddress: tokenAddress === null ? null : textOf(tokenAddress, 128) };
}

/** What brought a policy in force. Whose voices they are, and for what, is looked at later. */
export function mandateOf(value: unknown): SentMandate {
  const fields = fieldsOf(value, ['id', 'note', 'createdAtMs', 'expiresAtMs', 'approvals']);
  return {
    id: present(parsePolicyChangeId(textOf(fields['id'], 64))),
    note: fields['note'] === null ? null : textOf(fields['note']),
    createdAtMs: wholeNumberOf(fields['createdAtMs']),
    expiresAtMs: wholeNumberOf(fields['expiresAtMs']),
    approvals: listOf(fields['approvals'], 100, voteOf),
  };
}

export interface SentMandate extends Omit<PolicyMandate, 'policy'> {
  readonly approvals: readonly Vote[];
}

export function amountOf(value: unknown): Amount {
  return present(parseAmount(textOf(value, 80)));
}

function present<T>(value: T | null): T {
  if (value === null) throw new Malformed('not of its kind');
  return value;
}
