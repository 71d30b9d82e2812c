import { parseDevice } from '#devices/device-key.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { Device } from '#domain/access/device.ts';
import { APPROVAL_MODES, MAX_DEVICES } from '#domain/access/device.ts';
import { parseDeviceKeyId, parsePolicyChangeId, parseUserId, parseVaultIdText } from '#domain/id.ts';
import type { FeeCap, OptionalRules } from '#domain/policy/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, policyFault } from '#domain/policy/policy.ts';
import type { PolicyMandate } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';

/** A mandate in the form of its canonical bytes, which name the policy by its hash. */
export interface MandateDocument extends Omit<PolicyMandate, 'policy'> {
  readonly policyHash: string;
}

/**
 * Returns the policy that canonical bytes encode, or null when they encode none. The bytes come
 * from the coordinator. Encoding the policy again must give the same bytes, so that a signer reads
 * exactly what the hash names.
 */
export function readPolicy(bytes: Uint8Array): Policy | null {
  const policy = read(bytes, 'conclave/policy/v2', policyOf);
  if (policy === null || policyFault(policy) !== null) return null;
  return areEqual(policyBytes(policy), bytes) ? policy : null;
}

/** Returns the mandate that canonical bytes encode, or null when they encode none. */
export function readMandate(bytes: Uint8Array): MandateDocument | null {
  const mandate = read(bytes, 'conclave/policy-change/v1', (fields): MandateDocument => {
    const id = present(parsePolicyChangeId(fields.text('id')));
    const policyHash = fields.text('policyHash');
    const note = fields.value('note');
    return {
      id,
      policyHash,
      note,
      createdAtMs: fields.wholeNumber('createdAtMs'),
      expiresAtMs: fields.wholeNumber('expiresAtMs'),
    };
  });
  return mandate !== null && areEqual(mandateBytes(mandate, mandate.policyHash), bytes) ? mandate : null;
}

/** The bytes do not encode what was expected. The error never leaves this file. */
class Unreadable extends Error {}

function read<T>(bytes: Uint8Array, domain: string, readFields: (fields: FieldCursor) => T): T | null {
  try {
    const text = readCanonical(bytes);
    const fields = new FieldCursor(text.fields);
    const found = text.domain === domain ? readFields(fields) : null;
    return fields.isAtEnd() ? found : null;
  } catch (error) {
    if (error instanceof Unreadable || error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

/** Reads the fields in their order: each by its name, and none is skipped. */
class FieldCursor {
  readonly #fields: readonly CanonicalField[];
  #next = 0;

  constructor(fields: readonly CanonicalField[]) {
    this.#fields = fields;
  }

  isAtEnd(): boolean {
    return this.#next === this.#fields.length;
  }

  /** Reports whether the next field has this name. */
  has(name: string): boolean {
    return this.#fields[this.#next]?.[0] === name;
  }

  value(name: string): string | null {
    const field = this.#fields[this.#next];
    if (field === undefined || field[0] !== name) throw new Unreadable(name);
    this.#next += 1;
    return field[1];
  }

  text(name: string): string {
    return present(this.value(name));
  }

  /** Leading zeros and other spellings fail when the document is encoded again. */
  wholeNumber(name: string): number {
    return present(this.wholeNumberOrNull(name));
  }

  wholeNumberOrNull(name: string): number | null {
    const text = this.value(name);
    if (text === null) return null;
    if (!/^[0-9]{1,16}$/.test(text)) throw new Unreadable(name);
    return Number.parseInt(text, 10);
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const text = this.text(name);
    return present(values.find((value) => value === text));
  }

  /** Returns as many items as the field of this name specifies. */
  list<T>(name: string, most: number, item: () => T): T[] {
    const length = this.wholeNumber(name);
    if (length > most) throw new Unreadable(name);
    return Array.from({ length }, item);
  }

  amount(name: string): Amount {
    return present(parseAmount(this.text(name)));
  }

  amountOrNull(name: string): Amount | null {
    const text = this.value(name);
    return text === null ? null : present(parseAmount(text));
  }
}

/** `policyFault` refuses larger numbers of signers or co-signers, with its own limits. */
const MAX_MEMBERS = 100;

function policyOf(fields: FieldCursor): Policy {
  const vaultId = present(parseVaultIdText(fields.text('vaultId')));
  const version = fields.wholeNumber('version');
  const threshold = fields.wholeNumber('threshold');
  const previousHash = fields.text('previousHash');
  const signers = fields.list('signers', MAX_MEMBERS, () => present(parseUserId(fields.text('signer'))));
  const approvalMode = fields.oneOf('approvalMode', APPROVAL_MODES);
  const devices = fields.list('devices', MAX_DEVICES, () => deviceOf(fields));
  const rules = rulesOf(fields);
  const cosigners = fields.has('cosigners')
    ? { cosigners: fields.list('cosigners', MAX_MEMBERS, () => pinOf(fields)) }
    : {};
  return { vaultId, version, signers, threshold, approvalMode, devices, rules, previousHash, ...cosigners };
}

function deviceOf(fields: FieldCursor): Device {
  const keyId = present(parseDeviceKeyId(fields.text('device')));
  const device = parseDevice({
    userId: present(parseUserId(fields.text('userId'))),
    algorithm: fields.text('algorithm'),
    publicKey: fields.text('publicKey'),
    credentialId: fields.value('credentialId'),
    rpId: fields.value('rpId'),
    origin: fields.value('origin'),
  });
  if (typeof device === 'string' || device.keyId !== keyId) throw new Unreadable('device');
  return device;
}

function rulesOf(fields: FieldCursor): Rules {
  const recipients = fields.oneOf('recipients', ['anyone', 'address-book']);
  const chain = () => fields.text('chain');
  const asset = () => ({ chain: chain(), tokenAddress: fields.value('tokenAddress') });
  return {
    recipients,
    unreadableThreshold: fields.wholeNumberOrNull('unreadableThreshold'),
    addressBook: fields.list('addressBook', MAX_RULES, () => {
      return { chain: chain(), address: fields.text('address'), name: fields.text('name') };
    }),
    limits: fields.list('limits', MAX_RULES, () => {
      return {
        ...asset(),
        perTransaction: fields.amountOrNull('perTransaction'),
        perDay: fields.amountOrNull('perDay'),
      };
    }),
    higherThresholds: fields.list('higherThresholds', MAX_RULES, () => {
      return { ...asset(), above: fields.amount('above'), threshold: fields.wholeNumber('threshold') };
    }),
    ...optionalRulesOf(fields),
  };
}

function optionalRulesOf(fields: FieldCursor): OptionalRules {
  const cap = (): FeeCap => ({ chain: fields.text('chain'), amount: fields.amount('amount') });
  return {
    ...(fields.has('signOnce') ? { signOnce: fields.oneOf('signOnce', SIGN_ONCE_MODES) } : {}),
    ...(fields.has('limitsIncludeFees')
      ? { limitsIncludeFees: fields.oneOf('limitsIncludeFees', ['true', 'false']) === 'true' }
      : {}),
    ...(fields.has('maxFees') ? { maxFees: fields.list('maxFees', MAX_RULES, cap) } : {}),
    ...(fields.has('requiredDevice') ? { requiredDevice: fields.oneOf('requiredDevice', REQUIRED_DEVICES) } : {}),
    ...(fields.has('unboundMessages')
      ? { unboundMessages: fields.oneOf('unboundMessages', UNBOUND_MESSAGE_RULES) }
      : {}),
  };
}

function pinOf(fields: FieldCursor): CosignerPin {
  return { index: fields.wholeNumber('cosigner'), signing: fields.text('signing') };
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Unreadable('A value is missing or malformed.');
  return value;
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
