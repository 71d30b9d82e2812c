import { parseDevice } from '#devices/device-key.ts';
import { FieldReader, InvalidDocument } from '#domain/canonical/field-reader.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Device } from '#domain/access/device.ts';
import { APPROVAL_MODES, MAX_DEVICES } from '#domain/access/device.ts';
import { parseDeviceKeyId, parseUserId, parseVaultIdText } from '#domain/id.ts';
import type { OptionalRules, PolicyToken } from '#domain/policy/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { POLICY_DOMAIN, policyBytes, policyFault } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';

/** `policyFault` refuses larger numbers of signers or co-signers, with its own limits. */
const MAX_MEMBERS = 100;

/**
 * Returns the policy that canonical bytes encode. Throws `InvalidDocument` for bytes that encode
 * none, or an invalid one. The bytes come from the coordinator. Encoding the policy again must give
 * the same bytes, so that a signer reads exactly what the hash names. The reader is here, and not
 * beside those of intents and mandates, because `parseDevice` decodes curve points.
 */
export function readPolicy(bytes: Uint8Array): Policy {
  const fields = new FieldReader(bytes, POLICY_DOMAIN);
  const policy: Policy = {
    vaultId: fields.parsed('vaultId', parseVaultIdText),
    version: fields.count('version'),
    threshold: fields.count('threshold'),
    signingThreshold: fields.count('signingThreshold'),
    previousHash: fields.text('previousHash'),
    signers: fields.list('signers', MAX_MEMBERS, () => fields.parsed('signer', parseUserId)),
    approvalMode: fields.oneOf('approvalMode', APPROVAL_MODES),
    devices: fields.list('devices', MAX_DEVICES, () => deviceOf(fields)),
    rules: rulesOf(fields),
    ...(fields.isAt('cosigners') ? { cosigners: fields.list('cosigners', MAX_MEMBERS, () => pinOf(fields)) } : {}),
  };
  const fault = policyFault(policy);
  if (fault !== null) throw new InvalidDocument(`The policy is invalid: ${fault}.`);
  fields.end(policyBytes(policy));
  return policy;
}

function deviceOf(fields: FieldReader): Device {
  const keyId = fields.parsed('device', parseDeviceKeyId);
  const device = parseDevice({
    userId: fields.parsed('userId', parseUserId),
    algorithm: fields.text('algorithm'),
    publicKey: fields.text('publicKey'),
    credentialId: fields.optional('credentialId'),
    rpId: fields.optional('rpId'),
    origin: fields.optional('origin'),
  });
  if (typeof device === 'string') throw new InvalidDocument(`A device of the policy has an invalid ${device}.`);
  if (device.keyId !== keyId) throw new InvalidDocument('A device of the policy has the id of another key.');
  return device;
}

function rulesOf(fields: FieldReader): Rules {
  const recipients = fields.oneOf('recipients', ['anyone', 'address-book']);
  const chain = () => fields.plainText('chain');
  const asset = () => ({ chain: chain(), tokenAddress: fields.optionalPlainText('tokenAddress') });
  return {
    recipients,
    unreadableThreshold: fields.optionalCount('unreadableThreshold'),
    addressBook: fields.list('addressBook', MAX_RULES, () => {
      return { chain: chain(), address: fields.plainText('address'), name: fields.plainText('name') };
    }),
    limits: fields.list('limits', MAX_RULES, () => {
      return {
        ...asset(),
        perTransaction: fields.optionalAmount('perTransaction'),
        perDay: fields.optionalAmount('perDay'),
      };
    }),
    higherThresholds: fields.list('higherThresholds', MAX_RULES, () => {
      return { ...asset(), above: fields.amount('above'), threshold: fields.count('threshold') };
    }),
    ...optionalRulesOf(fields),
  };
}

function optionalRulesOf(fields: FieldReader): OptionalRules {
  const cap = () => ({ chain: fields.plainText('chain'), amount: fields.amount('amount') });
  return {
    ...(fields.isAt('signOnce') ? { signOnce: fields.oneOf('signOnce', SIGN_ONCE_MODES) } : {}),
    ...(fields.isAt('limitsIncludeFees')
      ? { limitsIncludeFees: fields.oneOf('limitsIncludeFees', ['true', 'false']) === 'true' }
      : {}),
    ...(fields.isAt('maxFees') ? { maxFees: fields.list('maxFees', MAX_RULES, cap) } : {}),
    ...(fields.isAt('requiredDevice') ? { requiredDevice: fields.oneOf('requiredDevice', REQUIRED_DEVICES) } : {}),
    ...(fields.isAt('unboundMessages')
      ? { unboundMessages: fields.oneOf('unboundMessages', UNBOUND_MESSAGE_RULES) }
      : {}),
    ...(fields.isAt('tokens') ? { tokens: fields.list('tokens', MAX_RULES, () => tokenOf(fields)) } : {}),
    ...(fields.isAt('rejections') ? { rejections: fields.count('rejections') } : {}),
    ...(fields.isAt('excludedMembers')
      ? { excludedMembers: fields.list('excludedMembers', MAX_RULES, () => fields.parsed('userId', parseUserId)) }
      : {}),
  };
}

function tokenOf(fields: FieldReader): PolicyToken {
  return {
    chain: fields.plainText('chain'),
    tokenAddress: fields.plainText('tokenAddress'),
    symbol: fields.plainText('symbol'),
    decimals: fields.count('decimals'),
  };
}

function pinOf(fields: FieldReader): CosignerPin {
  return { index: fields.count('cosigner'), signing: fields.text('signing') };
}
