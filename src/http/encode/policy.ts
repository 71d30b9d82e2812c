import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Device } from '#domain/access/device.ts';
import { APPROVAL_MODES, DEVICE_ALGORITHMS } from '#domain/access/device.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Founding } from '#domain/policy/mandate-renewal.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, thresholdForChange } from '#domain/policy/policy.ts';
import { policyHashOf } from '#devices/policy-succession.ts';

const text = z.string();
const amount = z.string().regex(/^(0|[1-9][0-9]*)$/);

/** The schema of a device. The last three fields are null except for passkeys. */
export const deviceSchema = z
  .strictObject({
    keyId: text,
    userId: text,
    algorithm: z.enum(DEVICE_ALGORITHMS),
    publicKey: text,
    credentialId: text.nullable(),
    rpId: text.nullable(),
    origin: text.nullable(),
  })
  .meta({ id: 'Device' });

/** The schema of a policy. */
export const policySchema = z
  .strictObject({
    vaultId: z.int(),
    version: z.int(),
    hash: text.meta({
      description: 'Hex SHA-256 of the field `canonical`. Transactions and the next version refer to it',
    }),
    previousHash: text,
    canonical: text.meta({ description: 'Canonical bytes of the policy, in hex' }),
    signers: z.array(text),
    threshold: z.int(),
    signingThreshold: z.int().meta({ description: 'The number of co-signers that sign together. It never changes' }),
    approvalMode: z
      .enum(APPROVAL_MODES)
      .meta({ description: 'device: only approvals that a device of the signer has signed count' }),
    devices: z.array(deviceSchema),
    changeThreshold: z
      .int()
      .meta({ description: 'Approvals required to change the policy: the highest threshold in it' }),
    recipients: z.enum(['anyone', 'address-book']),
    addressBook: z.array(z.strictObject({ chain: text, address: text, name: text })),
    limits: z.array(
      z.strictObject({
        chain: text,
        tokenAddress: text.nullable(),
        perTransaction: amount.nullable(),
        perDay: amount.nullable().meta({ description: 'Daily limit, for any 24 hours' }),
      }),
    ),
    higherThresholds: z.array(
      z.strictObject({ chain: text, tokenAddress: text.nullable(), above: amount, threshold: z.int() }),
    ),
    unreadableThreshold: z.int().nullable().meta({
      description:
        'Minimum approvals for calls and typed data that cannot be decoded (blind signing); null refuses them',
    }),
    signOnce: z.enum(SIGN_ONCE_MODES).nullable().meta({
      description:
        'Co-signers whose receipts a signature requires; null: the policy predates this rule, and a quorum is enough',
    }),
    limitsIncludeFees: z.boolean().nullable().meta({
      description: 'Whether the maximum fee counts towards limits of the native asset; null: it does not',
    }),
    maxFees: z
      .array(z.strictObject({ chain: text, amount }))
      .nullable()
      .meta({ description: 'Maximum fee of one transaction, by chain; null: no cap in the policy' }),
    requiredDevice: z.enum(REQUIRED_DEVICES).nullable().meta({
      description:
        'ed25519: at least one approval must carry the signature of an Ed25519 device; null: any device counts',
    }),
    unboundMessages: z.enum(UNBOUND_MESSAGE_RULES).nullable().meta({
      description: 'Whether messages whose signature names no chain are signed; null: they are',
    }),
    tokens: z
      .array(z.strictObject({ chain: text, tokenAddress: text, symbol: text, decimals: z.int() }))
      .nullable()
      .meta({ description: 'Tokens that the quorum adopted with their symbol and decimals; null: none' }),
    rejections: z.int().nullable().meta({
      description: 'Signers whose rejections end a transaction; null: one',
    }),
    excludedMembers: z.array(text).nullable().meta({
      description: 'Users who are no members while the policy is in force; null: none',
    }),
    cosigners: z
      .array(z.strictObject({ index: z.int(), signing: text }))
      .nullable()
      .meta({
        description: 'Identity keys of the co-signers, which verify their statements; null: not pinned',
      }),
  })
  .meta({ id: 'Policy' });

export function deviceRecord(device: Device): z.infer<typeof deviceSchema> {
  return { credentialId: null, rpId: null, origin: null, ...device };
}

/** Returns a policy with readable chain names. */
export function policyRecord(policy: Policy, chains: readonly Chain[]): z.infer<typeof policySchema> {
  const { rules } = policy;
  const named = <T extends { readonly chain: string }>(item: T) => ({
    ...item,
    chain: findChain(chains, item.chain)?.name ?? item.chain,
  });
  return {
    vaultId: policy.vaultId,
    version: policy.version,
    hash: policyHashOf(policy),
    previousHash: policy.previousHash,
    canonical: bytesToHex(policyBytes(policy)),
    signers: [...policy.signers],
    approvalMode: policy.approvalMode,
    devices: policy.devices.map(deviceRecord),
    threshold: policy.threshold,
    signingThreshold: policy.signingThreshold,
    changeThreshold: thresholdForChange(policy),
    recipients: rules.recipients,
    addressBook: rules.addressBook.map(named),
    limits: rules.limits.map(named),
    higherThresholds: rules.higherThresholds.map(named),
    unreadableThreshold: rules.unreadableThreshold,
    signOnce: rules.signOnce ?? null,
    limitsIncludeFees: rules.limitsIncludeFees ?? null,
    maxFees: rules.maxFees?.map(named) ?? null,
    requiredDevice: rules.requiredDevice ?? null,
    unboundMessages: rules.unboundMessages ?? null,
    tokens: rules.tokens?.map(named) ?? null,
    rejections: rules.rejections ?? null,
    excludedMembers: rules.excludedMembers === undefined ? null : [...rules.excludedMembers],
    cosigners: policy.cosigners === undefined ? null : [...policy.cosigners],
  };
}

export const foundingSchema = z
  .strictObject({
    version: z.int(),
    missing: z
      .array(z.strictObject({ userId: z.string(), keyId: z.string() }))
      .meta({ description: 'The devices that have not approved the policy, with their owners' }),
    withoutDevice: z.array(z.string()).meta({
      description:
        'The signers who own no device in the policy. Each proposes one in a policy change, which is in force at ' +
        'once; the approvals begin when no signer is left',
    }),
    lacksRequiredDevice: z.boolean().meta({
      description: 'Whether the policy requires an Ed25519 device and has none, so that one is proposed first',
    }),
    changeId: z
      .string()
      .nullable()
      .meta({
        description:
          'Id of the policy change that each of them approves; null after its expiry or rejection, when a member ' +
          'renews the version',
      }),
  })
  .meta({
    id: 'Founding',
    description:
      'What the first policy in device mode lacks. No co-signer takes it before every device in it has approved it, ' +
      'and the vault has no address. Null afterwards, and in token mode.',
  });

/** Returns the founding of a vault as its reader receives it. */
export function foundingRecord(founding: Founding | null): z.infer<typeof foundingSchema> | null {
  if (founding === null) return null;
  const missing = founding.missing.map(({ userId, keyId }) => ({ userId, keyId }));
  const { version, withoutDevice, lacksRequiredDevice, changeId } = founding;
  return { version, missing, withoutDevice: [...withoutDevice], lacksRequiredDevice, changeId };
}
