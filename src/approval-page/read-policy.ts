import {
  addressOf,
  bytesOfHex,
  CanonicalCursor,
  chainOf,
  countOf,
  hashOf,
  holdSame,
  NothingToApprove,
} from '#approval-page/canonical-cursor.ts';
import { parseDevice } from '#devices/device-key.ts';
import { parseAmount } from '#domain/amount.ts';
import type { CosignerPin } from '#domain/cosigner-pin.ts';
import type { Device } from '#domain/device.ts';
import { APPROVAL_MODES, MOST_DEVICES } from '#domain/device.ts';
import { parseDeviceKeyId, parsePolicyChangeId, parseUserId, parseVaultIdText } from '#domain/id.ts';
import type { OptionalRules } from '#domain/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/optional-rules.ts';
import type { Policy } from '#domain/policy.ts';
import { policyBytes, policyFault } from '#domain/policy.ts';
import type { PolicyMandate } from '#domain/policy-change.ts';
import { mandateBytes } from '#domain/policy-change.ts';
import type { Rules } from '#domain/rules.ts';
import { MOST_RULES } from '#domain/rules.ts';

const MAX_SIGNERS = 50;
const MAX_COSIGNERS = 5;

/**
 * The policy that canonical bytes encode. Throws `NothingToApprove` unless every field is known, the
 * policy is a valid one, and it encodes to exactly these bytes again.
 */
export function readPolicy(canonical: string): Policy {
  const bytes = bytesOfHex(canonical);
  const cursor = new CanonicalCursor(bytes, 'conclave/policy/v2');
  const policy: Policy = {
    vaultId: cursor.parsed('vaultId', parseVaultIdText),
    version: cursor.count('version'),
    threshold: cursor.count('threshold'),
    previousHash: cursor.parsed('previousHash', hashOf),
    signers: cursor.list('signers', MAX_SIGNERS, () => cursor.parsed('signer', parseUserId)),
    approvalMode: cursor.oneOf('approvalMode', APPROVAL_MODES),
    devices: cursor.list('devices', MOST_DEVICES, () => readDevice(cursor)),
    rules: readRules(cursor),
    ...(cursor.isAt('cosigners') ? { cosigners: readPins(cursor) } : {}),
  };
  cursor.end();
  holdSame(bytes, policyBytes(policy));
  const fault = policyFault(policy);
  if (fault !== null) throw new NothingToApprove(`The policy is not a valid one (${fault}).`);
  return policy;
}

/** A mandate, which names the policy that it puts in force by its hash. */
export type ReadMandate = Omit<PolicyMandate, 'policy'> & { readonly policyHash: string };

export const MANDATE_DOMAIN = 'conclave/policy-change/v1';

/** The mandate that canonical bytes encode, read as strictly as a policy. */
export function readMandate(canonical: string): ReadMandate {
  const bytes = bytesOfHex(canonical);
  const cursor = new CanonicalCursor(bytes, MANDATE_DOMAIN);
  const mandate = {
    id: cursor.parsed('id', parsePolicyChangeId),
    policyHash: cursor.parsed('policyHash', hashOf),
    note: cursor.optional('note'),
    createdAtMs: cursor.count('createdAtMs'),
    expiresAtMs: cursor.count('expiresAtMs'),
  };
  cursor.end();
  holdSame(bytes, mandateBytes(mandate, mandate.policyHash));
  return mandate;
}

/** A device, whose key id must be the one that its key gives: the id alone is shown short. */
function readDevice(cursor: CanonicalCursor): Device {
  const keyId = cursor.parsed('device', parseDeviceKeyId);
  const device = parseDevice({
    userId: cursor.parsed('userId', parseUserId),
    algorithm: cursor.text('algorithm'),
    publicKey: cursor.text('publicKey'),
    credentialId: cursor.optional('credentialId'),
    rpId: cursor.optional('rpId'),
    origin: cursor.optional('origin'),
  });
  if (typeof device === 'string' || device.keyId !== keyId) {
    throw new NothingToApprove('The policy names a device that is malformed.');
  }
  return device;
}

function readRules(cursor: CanonicalCursor): Rules {
  const asset = () => ({
    chain: cursor.parsed('chain', chainOf),
    tokenAddress: cursor.optionalParsed('tokenAddress', addressOf),
  });
  const amount = (text: string) => parseAmount(text);
  return {
    recipients: cursor.oneOf('recipients', ['anyone', 'address-book'] as const),
    unreadableThreshold: cursor.optionalParsed('unreadableThreshold', countOf),
    addressBook: cursor.list('addressBook', MOST_RULES, () => ({
      chain: cursor.parsed('chain', chainOf),
      address: cursor.parsed('address', addressOf),
      name: cursor.text('name'),
    })),
    limits: cursor.list('limits', MOST_RULES, () => ({
      ...asset(),
      perTransaction: cursor.optionalParsed('perTransaction', amount),
      perDay: cursor.optionalParsed('perDay', amount),
    })),
    higherThresholds: cursor.list('higherThresholds', MOST_RULES, () => ({
      ...asset(),
      above: cursor.parsed('above', amount),
      threshold: cursor.count('threshold'),
    })),
    ...readOptionalRules(cursor),
  };
}

/** The rules that were added later, each present or absent, in the order of `optionalRuleFields`. */
function readOptionalRules(cursor: CanonicalCursor): OptionalRules {
  const when = <T>(name: string, read: () => T): T | undefined => (cursor.isAt(name) ? read() : undefined);
  const signOnce = when('signOnce', () => cursor.oneOf('signOnce', SIGN_ONCE_MODES));
  const feesCount = when('limitsIncludeFees', () => cursor.oneOf('limitsIncludeFees', ['true', 'false'] as const));
  const maxFees = when('maxFees', () =>
    cursor.list('maxFees', MOST_RULES, () => ({
      chain: cursor.parsed('chain', chainOf),
      amount: cursor.parsed('amount', (text) => parseAmount(text)),
    })),
  );
  const requiredDevice = when('requiredDevice', () => cursor.oneOf('requiredDevice', REQUIRED_DEVICES));
  const unboundMessages = when('unboundMessages', () => cursor.oneOf('unboundMessages', UNBOUND_MESSAGE_RULES));
  return {
    ...(signOnce === undefined ? {} : { signOnce }),
    ...(feesCount === undefined ? {} : { limitsIncludeFees: feesCount === 'true' }),
    ...(maxFees === undefined ? {} : { maxFees }),
    ...(requiredDevice === undefined ? {} : { requiredDevice }),
    ...(unboundMessages === undefined ? {} : { unboundMessages }),
  };
}

function readPins(cursor: CanonicalCursor): readonly CosignerPin[] {
  return cursor.list('cosigners', MAX_COSIGNERS, () => ({
    index: cursor.count('cosigner'),
    signing: cursor.parsed('signing', hashOf),
  }));
}
