import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import { APPROVAL_MODES, MAX_DEVICES } from '#domain/access/device.ts';
import { parseDeviceKeyId, parseUserId } from '#domain/id.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { deviceBody, deviceKeyId, MAX_NEW_DEVICES, readDevices } from '#http/encode/device-signature.ts';
import { plainText } from '#http/encode/plain-text.ts';
import { tokensBody } from '#http/vault/policy-tokens.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { PolicyPatch, PolicyPatchFault } from '#domain/vault/next-policy.ts';
import { PATCH_FAULTS } from '#review/patch-fault.ts';
import { readRules } from '#review/written-rules.ts';
import { knownUserIds } from '#store/users.ts';
import { MAX_PARTY_INDEX } from '#mpc/party.ts';

const chain = z.string().min(1).max(64);
const address = z.string().min(1).max(128);
const amount = z.string().min(1).max(128);

/** The rules of a policy as an operator or a signer writes them. An absent rule stays as it is. */
export const rulesBody = {
  recipients: z.enum(['anyone', 'address-book']).optional(),
  addressBook: z
    .array(
      z.strictObject({
        chain,
        address,
        name: plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.'),
      }),
    )
    .max(MAX_RULES)
    .optional(),
  limits: z
    .array(
      z.strictObject({
        chain,
        tokenAddress: address.nullish(),
        perTransaction: amount.nullish(),
        perDay: amount.nullish(),
      }),
    )
    .max(MAX_RULES)
    .optional(),
  higherThresholds: z
    .array(z.strictObject({ chain, tokenAddress: address.nullish(), above: amount, threshold: z.int().positive() }))
    .max(MAX_RULES)
    .optional(),
  unreadableThreshold: z.int().positive().nullish(),
  signOnce: z.enum(SIGN_ONCE_MODES).optional(),
  limitsIncludeFees: z.boolean().optional(),
  maxFees: z.array(z.strictObject({ chain, amount })).max(MAX_RULES).optional(),
  requiredDevice: z.enum(REQUIRED_DEVICES).optional(),
  unboundMessages: z.enum(UNBOUND_MESSAGE_RULES).optional(),
  tokens: tokensBody.optional(),
  rejections: z.int().positive().optional(),
  excludedMembers: z.array(z.string().max(64)).max(MAX_RULES).optional(),
};

/** The identity keys of all co-signers, in order. */
export const cosignersBody = z
  .array(
    z.strictObject({
      index: z.int(),
      signing: z.string().regex(/^[0-9a-f]{64}$/, 'Must have 64 lower-case hex digits.'),
    }),
  )
  .max(MAX_PARTY_INDEX);

export const policyPatchBody = z
  .strictObject({
    signers: z.array(z.string().max(64)).min(1).max(50).optional(),
    threshold: z.int().positive().optional(),
    approvalMode: z.enum(APPROVAL_MODES).optional(),
    addDevices: z.array(deviceBody).max(MAX_NEW_DEVICES).optional(),
    removeDevices: z.array(deviceKeyId).max(MAX_DEVICES).optional(),
    ...rulesBody,
    /**
     * When absent, a change from token mode to device mode adds them; null keeps the current ones.
     */
    cosigners: cosignersBody.nullish(),
    note: plainText(500).nullish(),
  })
  .meta({
    examples: [
      { threshold: 2, note: 'Two approvals for every transaction' },
      {
        recipients: 'address-book',
        addressBook: [{ chain: 'ethereum', address: '0x52908400098527886E0F7030069857D2E4169EE7', name: 'Landlord' }],
        limits: [{ chain: 'ethereum', perTransaction: '1000000000000000000', perDay: '5000000000000000000' }],
        higherThresholds: [
          {
            chain: 'ethereum',
            tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
            above: '50000000000',
            threshold: 3,
          },
        ],
        unreadableThreshold: null,
      },
    ],
  });

/** Returns the patch that a body requests, normalised by its chains, or all faults of the body. */
export async function readPolicyPatch(
  context: HttpContext,
  body: z.infer<typeof policyPatchBody>,
): Promise<Result<PolicyPatch, readonly FieldFault[]>> {
  const rules = readRules(chainsFrom(context.env), body);
  if (!rules.ok) return rules;
  const named = (body.signers ?? []).map(parseUserId);
  const signers = named.filter((id) => id !== null);
  const users = await knownUserIds(context.env.DB, signers);
  const absent = named.findIndex((id) => id === null || !users.has(id));
  if (absent >= 0)
    return refused([{ pointer: `/signers/${absent}`, code: 'invalid', detail: 'There is no user with this id.' }]);
  const devices = await readDevices(body.addDevices ?? [], '/addDevices', approvalOrigins(context.env));
  if (!devices.ok) return devices;
  return accepted({
    rules: rules.value,
    addDevices: devices.value,
    removeDevices: (body.removeDevices ?? []).map(parseDeviceKeyId).filter((id) => id !== null),
    ...(body.approvalMode === undefined ? {} : { approvalMode: body.approvalMode }),
    ...(body.signers === undefined ? {} : { signers }),
    ...(body.threshold === undefined ? {} : { threshold: body.threshold }),
    ...(body.cosigners == null ? {} : { cosigners: body.cosigners }),
  });
}

/** Returns the problem for a policy that is not valid, with the field that causes it. */
export function policyProblem(
  context: HttpContext,
  policyFault: PolicyPatchFault,
  fields: Readonly<Record<string, string>> = {},
): Response {
  const [pointer, detail] = PATCH_FAULTS[policyFault];
  return invalidRequest(context, [{ pointer: fields[pointer] ?? pointer, code: 'invalid', detail }]);
}
