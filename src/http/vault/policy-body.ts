import * as z from 'zod';
import { confusables } from '#chains/inspect/confusable.ts';
import { rulesFor } from '#chains/rules-for.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { APPROVAL_MODES, MAX_DEVICES } from '#domain/access/device.ts';
import type { AssetRef } from '#domain/transaction/exposure.ts';
import { parseDeviceKeyId, parseUserId } from '#domain/id.ts';
import type { FeeCap, OptionalRules, PolicyToken } from '#domain/policy/optional-rules.ts';
import { REQUIRED_DEVICES, SIGN_ONCE_MODES, UNBOUND_MESSAGE_RULES } from '#domain/policy/optional-rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { AssetLimit, AddressBookEntry, HigherThreshold, Rules } from '#domain/policy/rules.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { deviceBody, deviceKeyId, MAX_NEW_DEVICES, readDevices } from '#http/encode/device-signature.ts';
import { fieldReader } from '#http/edge/field-reader.ts';
import type { FieldReader } from '#http/edge/field-reader.ts';
import { plainText } from '#http/edge/plain-text.ts';
import { tokenFaults, tokensBody } from '#http/vault/policy-tokens.ts';
import type { FieldFault } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { PolicyPatch, PolicyPatchFault } from '#domain/policy/next-policy.ts';
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

type RulesBody = z.infer<z.ZodObject<typeof rulesBody>>;

/** Returns the patch that a body requests, normalised by its chains, or all faults of the body. */
export async function readPolicyPatch(
  context: HttpContext,
  body: z.infer<typeof policyPatchBody>,
): Promise<Result<PolicyPatch, readonly FieldFault[]>> {
  const rules = readRules(context, body);
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

/** Returns the rules in a body, normalised by their chains, or all faults of the rules. */
export function readRules(context: HttpContext, body: RulesBody): Result<Partial<Rules>, readonly FieldFault[]> {
  const faults: FieldFault[] = [];
  const readers = (name: string, pointer: string) => readerOn(context, { name, pointer }, faults);
  const addressBook = body.addressBook?.flatMap((entry, i): AddressBookEntry[] => {
    const pointer = `/addressBook/${i}`;
    const reader = readers(entry.chain, pointer);
    const read = reader?.recipient(entry.address, `${pointer}/address`) ?? null;
    return reader === null || read === null ? [] : [{ chain: reader.chain, address: read, name: entry.name }];
  });
  const alike = confusables((addressBook ?? []).map(({ name }) => name));
  if (alike !== null) {
    const [known, twin] = alike;
    const pointer = `/addressBook/${body.addressBook?.findIndex(({ name }) => name === twin) ?? 0}/name`;
    const detail = `Looks like the name '${known}' of another entry. Signers would confuse the two.`;
    faults.push({ pointer, code: 'invalid', detail });
  }
  const limits = body.limits?.flatMap((limit, i): AssetLimit[] => {
    const pointer = `/limits/${i}`;
    const reader = readers(limit.chain, pointer);
    const asset = readAsset(reader, limit.tokenAddress, pointer);
    const [most, perDay] = [limit.perTransaction ?? null, limit.perDay ?? null];
    const bound = (text: string | null, field: string): Amount | null =>
      text === null || reader === null ? null : reader.amount(text, `${pointer}/${field}`, '0');
    const bounds = { perTransaction: bound(most, 'perTransaction'), perDay: bound(perDay, 'perDay') };
    return asset === null ? [] : [{ ...asset, ...bounds }];
  });
  const higherThresholds = body.higherThresholds?.flatMap((step, i): HigherThreshold[] => {
    const pointer = `/higherThresholds/${i}`;
    const reader = readers(step.chain, pointer);
    const asset = readAsset(reader, step.tokenAddress, pointer);
    const above = reader?.amount(step.above, `${pointer}/above`, '0') ?? null;
    return asset === null || above === null ? [] : [{ ...asset, above, threshold: step.threshold }];
  });
  const maxFees = body.maxFees?.flatMap((cap, i): FeeCap[] => {
    const pointer = `/maxFees/${i}`;
    const reader = readers(cap.chain, pointer);
    const read = reader?.amount(cap.amount, `${pointer}/amount`, '0') ?? null;
    return reader === null || read === null ? [] : [{ chain: reader.chain, amount: read }];
  });
  const tokens = body.tokens?.flatMap(({ symbol, decimals, ...token }, i): PolicyToken[] => {
    const pointer = `/tokens/${i}`;
    const reader = readers(token.chain, pointer);
    const tokenAddress = reader?.token(token.tokenAddress, `${pointer}/tokenAddress`) ?? null;
    return reader === null || tokenAddress === null ? [] : [{ chain: reader.chain, tokenAddress, symbol, decimals }];
  });
  // An entry without an address is a fault already, and the others keep their positions without it.
  if (faults.length === 0) faults.push(...tokenFaults(tokens ?? [], chainsFrom(context.env)));
  if (faults.length > 0) return refused(faults);
  return accepted({
    ...optionalRules(body),
    ...(tokens === undefined ? {} : { tokens }),
    ...(maxFees === undefined ? {} : { maxFees }),
    ...(body.recipients === undefined ? {} : { recipients: body.recipients }),
    ...(addressBook === undefined ? {} : { addressBook }),
    ...(limits === undefined ? {} : { limits }),
    ...(higherThresholds === undefined ? {} : { higherThresholds }),
    ...(body.unreadableThreshold === undefined ? {} : { unreadableThreshold: body.unreadableThreshold }),
  });
}

/** Returns the rules in a body that depend on no chain. */
function optionalRules(body: RulesBody): OptionalRules {
  const { signOnce, limitsIncludeFees, requiredDevice, unboundMessages } = body;
  return {
    ...(signOnce === undefined ? {} : { signOnce }),
    ...(limitsIncludeFees === undefined ? {} : { limitsIncludeFees }),
    ...(requiredDevice === undefined ? {} : { requiredDevice }),
    ...(unboundMessages === undefined ? {} : { unboundMessages }),
  };
}

interface ChainReader extends FieldReader {
  /** CAIP-2. */
  readonly chain: string;
}

function readerOn(
  context: HttpContext,
  { name, pointer }: { readonly name: string; readonly pointer: string },
  faults: FieldFault[],
): ChainReader | null {
  const found = findChain(chainsFrom(context.env), name);
  if (found === null) {
    faults.push({ pointer: `${pointer}/chain`, code: 'unknown-chain', detail: 'The chain is not known.' });
    return null;
  }
  return { ...fieldReader(rulesFor(found), faults), chain: found.caip2 };
}

function readAsset(reader: ChainReader | null, token: string | null | undefined, pointer: string): AssetRef | null {
  if (reader === null) return null;
  if (token == null) return { chain: reader.chain, tokenAddress: null };
  const tokenAddress = reader.token(token, `${pointer}/tokenAddress`);
  return tokenAddress === null ? null : { chain: reader.chain, tokenAddress };
}

const POLICY_FAULTS: Readonly<Record<PolicyPatchFault, readonly [pointer: string, detail: string]>> = {
  'version-out-of-range': ['', 'The version must be at least 1.'],
  'no-signers': ['/signers', 'Must not be empty.'],
  'too-many-signers': ['/signers', 'There are too many signers.'],
  'signers-not-sorted': ['/signers', 'Must not contain a signer twice.'],
  'threshold-out-of-range': ['/threshold', 'Must be from 1 to the number of signers.'],
  'signing-threshold-out-of-range': ['/cosigners', 'The vault needs more than half of its co-signers to sign.'],
  'too-many-devices': ['/addDevices', `A policy can have at most ${MAX_DEVICES} devices, including existing ones.`],
  'devices-not-sorted': ['/addDevices', 'Must not contain a device twice, or a device that the policy already has.'],
  'device-of-nobody': ['/addDevices', 'Must not contain a device of a user who is not a signer.'],
  'new-signer-in-first-device-policy': [
    '/signers',
    'Add the signer in another change: each signer approves the change to device mode with a device.',
  ],
  'token-mode-before-founding': [
    '/approvalMode',
    'A vault that is being founded stays in device mode. Create another vault for the mode token.',
  ],
  'signer-without-device': ['/approvalMode', 'Device mode requires a device for each signer.'],
  'required-device-missing': [
    '/requiredDevice',
    'The value ed25519 requires the mode device and a signer with an Ed25519 device.',
  ],
  'cosigners-malformed': ['/cosigners', 'Must list co-signers 1 to n in order, each with its own key.'],
  'no-such-device': ['/removeDevices', 'Must not refer to an unknown device.'],
  'device-changed': ['/addDevices', 'Must not change a device in force. Remove it first, in a change of its own.'],
  'too-many-rules': ['/addressBook', `Every list of rules can have at most ${MAX_RULES} entries.`],
  'rules-not-in-order': ['/addressBook', 'A list of rules must not contain a duplicate.'],
  'limit-without-a-bound': ['/limits', 'Every limit must have perTransaction or perDay.'],
  'token-out-of-range': ['/tokens', 'Every token must have a symbol, and decimals that a token can have.'],
  'step-out-of-range': [
    '/higherThresholds',
    'Thresholds, including unreadableThreshold, must be from 1 to the number of signers.',
  ],
};

/** Returns the problem for a policy that is not valid, with the field that causes it. */
export function policyProblem(
  context: HttpContext,
  policyFault: PolicyPatchFault,
  fields: Readonly<Record<string, string>> = {},
): Response {
  const [pointer, detail] = POLICY_FAULTS[policyFault];
  return invalidRequest(context, [{ pointer: fields[pointer] ?? pointer, code: 'invalid', detail }]);
}
