import { isCanonicalAddress, isCanonicalAsset, isKnownChain } from '#chains/inspect/canonical-spelling.ts';
import type { ApprovedMandate } from '#devices/policy-succession.ts';
import { parseDevice } from '#devices/device-key.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { Device } from '#domain/access/device.ts';
import { APPROVAL_MODES, MAX_DEVICES } from '#domain/access/device.ts';
import { parsePolicyChangeId, parseUserId, parseVaultId } from '#domain/id.ts';
import type { FeeCap, OptionalRules } from '#domain/policy/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import { type Policy, policyFault } from '#domain/policy/policy.ts';
import { MAX_RULES, type Rules } from '#domain/policy/rules.ts';
import { MAX_PARTY_INDEX } from '#mpc/party.ts';
import {
  amountOf,
  type Fields,
  fieldsOf,
  hexOf,
  listOf,
  Malformed,
  present,
  textOf,
  approvalOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';

/** Parses policies and mandates as a coordinator sends them. Throws `Malformed`. */

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

/**
 * Parses a device. An invalid key, or a key under the id of another one, makes the policy
 * malformed.
 */
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

/** Returns the fields of an object: all required ones, and the optional ones that it has. */
function fieldsWith(value: unknown, required: readonly string[], optional: readonly string[]): Fields {
  const given = optional.filter((name) => Object.hasOwn(Object(value), name));
  return fieldsOf(value, [...required, ...given]);
}

export function policyOf(value: unknown): Policy {
  const fields = fieldsWith(value, POLICY_FIELDS, ['cosigners']);
  const approvalMode = APPROVAL_MODES.find((one) => one === fields['approvalMode']);
  if (approvalMode === undefined) throw new Malformed('approvalMode');
  const policy: Policy = {
    vaultId: present(parseVaultId(wholeNumberOf(fields['vaultId']))),
    version: wholeNumberOf(fields['version']),
    signers: listOf(fields['signers'], 100, (signer) => present(parseUserId(textOf(signer, 64)))),
    threshold: wholeNumberOf(fields['threshold']),
    approvalMode,
    devices: listOf(fields['devices'], MAX_DEVICES, deviceOf),
    rules: rulesOf(fields['rules']),
    previousHash: hexOf(fields['previousHash'], 32),
    ...(fields['cosigners'] === undefined ? {} : { cosigners: listOf(fields['cosigners'], MAX_PARTY_INDEX, pinOf) }),
  };
  if (policyFault(policy) !== null) throw new Malformed('policy');
  return policy;
}

function pinOf(value: unknown): CosignerPin {
  const { index, signing } = fieldsOf(value, ['index', 'signing']);
  return { index: wholeNumberOf(index), signing: hexOf(signing, 32) };
}

function rulesOf(value: unknown): Rules {
  const fields = fieldsWith(
    value,
    ['addressBook', 'recipients', 'limits', 'higherThresholds', 'unreadableThreshold'],
    ['signOnce', 'limitsIncludeFees', 'maxFees', 'requiredDevice', 'unboundMessages'],
  );
  const recipients = fields['recipients'];
  if (recipients !== 'anyone' && recipients !== 'address-book') throw new Malformed('recipients');
  return {
    recipients,
    addressBook: listOf(fields['addressBook'], MAX_RULES, (entry) => {
      const { chain, address, name } = fieldsOf(entry, ['chain', 'address', 'name']);
      const key = { chain: textOf(chain, 64), address: textOf(address, 128) };
      if (!isCanonicalAddress(key.chain, key.address)) throw new Malformed('addressBook');
      return { ...key, name: textOf(name, 128) };
    }),
    limits: listOf(fields['limits'], MAX_RULES, (limit) => {
      const { chain, tokenAddress, perTransaction, perDay } = fieldsOf(limit, [...ASSET, 'perTransaction', 'perDay']);
      return {
        ...assetOf(chain, tokenAddress),
        perTransaction: perTransaction === null ? null : amountOf(perTransaction),
        perDay: perDay === null ? null : amountOf(perDay),
      };
    }),
    higherThresholds: listOf(fields['higherThresholds'], MAX_RULES, (step) => {
      const { chain, tokenAddress, above, threshold } = fieldsOf(step, [...ASSET, 'above', 'threshold']);
      return { ...assetOf(chain, tokenAddress), above: amountOf(above), threshold: wholeNumberOf(threshold) };
    }),
    unreadableThreshold: fields['unreadableThreshold'] === null ? null : wholeNumberOf(fields['unreadableThreshold']),
    ...optionalRulesOf(fields),
  };
}

/**
 * Parses the rules that older policies lack. A rule that is present has to have one of its values.
 */
function optionalRulesOf(fields: Fields): OptionalRules {
  const { signOnce, limitsIncludeFees, maxFees, requiredDevice, unboundMessages } = fields;
  return {
    ...(signOnce === undefined ? {} : { signOnce: oneOf(SIGN_ONCE_MODES, signOnce) }),
    ...(limitsIncludeFees === undefined ? {} : { limitsIncludeFees: oneOf([true, false], limitsIncludeFees) }),
    ...(maxFees === undefined ? {} : { maxFees: listOf(maxFees, MAX_RULES, feeCapOf) }),
    ...(requiredDevice === undefined ? {} : { requiredDevice: oneOf(REQUIRED_DEVICES, requiredDevice) }),
    ...(unboundMessages === undefined ? {} : { unboundMessages: oneOf(UNBOUND_MESSAGE_RULES, unboundMessages) }),
  };
}

function oneOf<T>(values: readonly T[], given: unknown): T {
  return present(values.find((one) => one === given) ?? null);
}

function feeCapOf(value: unknown): FeeCap {
  const { chain, amount } = fieldsOf(value, ['chain', 'amount']);
  const name = textOf(chain, 64);
  if (!isKnownChain(name)) throw new Malformed('maxFees');
  return { chain: name, amount: amountOf(amount) };
}

const ASSET = ['chain', 'tokenAddress'] as const;

function assetOf(chain: unknown, tokenAddress: unknown) {
  const asset = { chain: textOf(chain, 64), tokenAddress: tokenAddress === null ? null : textOf(tokenAddress, 128) };
  if (!isCanonicalAsset(asset.chain, asset.tokenAddress)) throw new Malformed('asset');
  return asset;
}

/** Parses the mandate that put a policy in force. The approvals are verified later. */
export function mandateOf(value: unknown): ApprovedMandate {
  const fields = fieldsOf(value, ['id', 'note', 'createdAtMs', 'expiresAtMs', 'approvals']);
  return {
    id: present(parsePolicyChangeId(textOf(fields['id'], 64))),
    note: fields['note'] === null ? null : textOf(fields['note']),
    createdAtMs: wholeNumberOf(fields['createdAtMs']),
    expiresAtMs: wholeNumberOf(fields['expiresAtMs']),
    approvals: listOf(fields['approvals'], 100, approvalOf),
  };
}
