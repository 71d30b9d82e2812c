import { randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { BITCOIN_ADDRESS_TYPES } from '#domain/asset/chain.ts';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import type { VaultId } from '#domain/id.ts';
import { parseUserId, parseVaultId, ulid } from '#domain/id.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { Member } from '#domain/access/member.ts';
import { ROLES } from '#domain/access/member.ts';
import { MAX_MEMBERS } from '#domain/vault/membership.ts';
import type { PolicyFault } from '#domain/policy/policy.ts';
import { draftFault } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Vault } from '#domain/vault/vault.ts';
import {
  DEFAULT_DECISION_PERIOD_SECONDS,
  DEFAULT_MAX_PENDING,
  MAX_DECISION_PERIOD_SECONDS,
} from '#domain/vault/vault.ts';
import { deviceBody, MAX_NEW_DEVICES, readDevices } from '#http/encode/device-signature.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { Input, OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject, ObjectUnavailable } from '#http/edge/object-call.ts';
import { plainText } from '#http/encode/plain-text.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { problem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { fetchPins, pinnedKeysFault } from '#http/vault/pinned-keys.ts';
import { newTokensProblem } from '#http/vault/policy-tokens.ts';
import { cosignersBody, policyProblem, rulesBody } from '#http/vault/policy-body.ts';
import { readRules } from '#review/written-rules.ts';
import { foundingRecord, foundingSchema, policyRecord, policySchema } from '#http/encode/policy.ts';
import { knownUserIds } from '#store/users.ts';
import type { KeyExport } from '#store/operations/key-exports.ts';
import { exportsOfKeys } from '#store/operations/key-exports.ts';
import { rfc3339OrNull } from '#http/encode/rfc3339.ts';
import { allocateVault } from '#store/vaults.ts';
import { minSigners, MAX_PARTY_INDEX } from '#mpc/party.ts';
import { cosignerEndpoints } from '#cosigner-client/endpoints.ts';
import type { VaultSpec } from '#domain/vault/new-vault.ts';
import { initialPolicy } from '#domain/vault/new-vault.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

export const rolesBody = z.array(z.enum(ROLES)).min(1).max(ROLES.length);
/**
 * The maximum number of used vault numbers that one request skips. The next request continues after
 * them.
 */
const MAX_TAKEN_NUMBERS = 50;

const vaultBody = z.strictObject({
  name: plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.'),
  /** The operator's own name of the vault. A repeated reference gives the same vault. */
  reference: z
    .string()
    .regex(/^[!-~]{1,128}$/, 'Must have 1 to 128 printable ASCII characters.')
    .optional(),
  members: z
    .array(z.strictObject({ userId: z.string(), roles: rolesBody }))
    .min(1)
    .max(MAX_MEMBERS),
  threshold: z.int().positive(),
  initialState: z.enum(['DRAFT', 'SUBMITTED']),
  chains: z.array(z.string()).min(1).max(50),
  decisionPeriodSeconds: z.int().min(60).max(MAX_DECISION_PERIOD_SECONDS).optional(),
  mostPending: z.int().positive().max(1_000_000).optional(),
  signingThreshold: z.int().min(2).max(MAX_PARTY_INDEX).optional(),
  bitcoinAddressType: z.enum(BITCOIN_ADDRESS_TYPES).optional(),
  /**
   * The mode in which approvals count. It has no default: `token` means that the coordinator and
   * the holders of service keys are trusted to count approvals, and the operator has to choose that
   * explicitly.
   */
  approvalMode: z.enum(APPROVAL_MODES, {
    error:
      "Must be 'device' (co-signers verify a signature of each signer's device) or " +
      "'token' (the coordinator and the holders of service keys are trusted to count approvals).",
  }),
  /** Devices of the signers. */
  devices: z.array(deviceBody).max(MAX_NEW_DEVICES).optional(),
  /**
   * The identity keys of the co-signers. When absent in device mode, the co-signers provide them.
   * Null or an empty list pins none.
   */
  cosigners: cosignersBody.nullish(),
  /** Rules of the first policy. Only the signers can change them later. */
  rules: z.strictObject(rulesBody).optional(),
});

export const vaultSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    initialState: z.enum(['DRAFT', 'SUBMITTED']),
    decisionPeriodSeconds: z.int(),
    mostPending: z.int(),
    chains: z.array(z.string()),
    bitcoinAddressType: z.enum(BITCOIN_ADDRESS_TYPES),
    members: z.array(
      z.strictObject({
        userId: z.string(),
        roles: z.array(z.enum(ROLES)),
        accepted: z.boolean().meta({ description: 'False until the member accepts the vault' }),
      }),
    ),
    policy: policySchema,
    wallets: z.array(z.strictObject({ chain: z.string(), address: z.string().nullable() })),
    keys: z.array(
      z.strictObject({
        keyId: z.string(),
        scheme: z.string(),
        publicKey: z.string(),
        recovery: z
          .strictObject({
            exportedAt: z.iso.datetime().nullable(),
            outdatedSince: z.iso.datetime().nullable().meta({
              description: 'Since when no complete export has the present shares; null when the last export has them',
            }),
            recoveryKeys: z.array(z.strictObject({ cosigner: z.int(), recoveryKey: z.string() })),
          })
          .nullable()
          .meta({ description: 'The last complete export of recovery packages; null for a key that is new' }),
      }),
    ),
    founding: foundingSchema.nullable(),
  })
  .meta({ id: 'Vault' });

/**
 * POST /internal/vault: creates a vault. Responds with 201 and the vault. In token mode its key
 * generation starts at once. In device mode its policy pins the identity keys of the co-signers,
 * and the key generation starts when each device has approved the policy change in `founding`. GET
 * returns the addresses when the co-signers are done. `unavailable`: a co-signer that must provide
 * its key is unreachable.
 */
export const createVault = route({
  method: 'POST',
  path: '/internal/vault',
  access: 'service',
  scope: 'vaults',
  summary: 'Create a vault and generate its keys',
  body: vaultBody,
  answer: { status: 201, schema: vaultSchema },
  refuses: ['chain-unavailable'],
  handle: found,
});

/**
 * GET /internal/vault/{vaultId}: returns the configuration, members, policy and addresses of a
 * vault.
 */
export const readVault = route({
  method: 'GET',
  path: '/internal/vault/:vaultId',
  access: 'service',
  scope: 'vaults',
  summary: 'Read a vault with its members, policy and addresses',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['vault-not-found'],
  handle: async (context: HttpContext, { params }: OperatorInput<{ params: 'vaultId' }>) => {
    const object = vaultOf(context, params.vaultId);
    const vault = object === null ? null : await callObject(object, (stub) => stub.work({ type: 'describeVault' }));
    return vault === null ? noSuchVault(context) : context.json(await vaultRecord(context, vault));
  },
});

/** The fields of a new vault, by the fields of a policy change to which they correspond. */
const FIELDS_OF_CREATION: Readonly<Record<string, string>> = { '/signers': '/members', '/addDevices': '/devices' };

async function found(context: HttpContext, { body }: Input<{ body: typeof vaultBody }>): Promise<Response> {
  const chains = body.chains.map((name) => findChain(chainsFrom(context.env), name)?.name ?? null);
  const unknown = chains.indexOf(null);
  if (unknown >= 0) return fault(context, `/chains/${unknown}`, 'The chain is not known.');
  const members = await readMembers(context, body.members);
  if (!members.ok) return invalidRequest(context, [members.refusal]);
  const signers = body.members.filter((member) => member.roles.includes('signer')).length;
  if (body.threshold > signers)
    return fault(context, '/threshold', `Must be at most the number of signers (${signers}).`);
  const cosigners = cosignerEndpoints(context.env).length;
  const { signingThreshold = minSigners(cosigners) } = body;
  const unsafe = thresholdFault(signingThreshold, cosigners);
  if (unsafe !== null) return invalidRequest(context, [unsafe]);
  const rules = readRules(chainsFrom(context.env), body.rules ?? {});
  if (!rules.ok) return invalidRequest(context, under('/rules', rules.refusal));
  const unproven = await newTokensProblem(context, rules.value.tokens ?? [], { known: [], pointer: '/rules' });
  if (unproven !== null) return unproven;
  const devices = await readDevices(body.devices ?? [], '/devices', approvalOrigins(context.env));
  if (!devices.ok) return invalidRequest(context, devices.refusal);
  const approvalMode = body.approvalMode ?? 'token';
  const named = body.cosigners ?? [];
  if (named.length > 0 && named.length !== cosigners) {
    return fault(context, '/cosigners', `Must contain the keys of all ${cosigners} co-signers.`);
  }
  const spec = {
    configuration: {
      name: body.name,
      initialState: body.initialState,
      decisionPeriodSeconds: body.decisionPeriodSeconds ?? DEFAULT_DECISION_PERIOD_SECONDS,
      mostPending: body.mostPending ?? DEFAULT_MAX_PENDING,
      chains: chains.filter((name) => name !== null),
      bitcoinAddressType: body.bitcoinAddressType ?? 'p2tr',
    },
    members: members.value,
    threshold: body.threshold,
    signingThreshold,
    approvalMode,
    devices: devices.value,
    ...(named.length === 0 ? {} : { cosigners: named }),
    rules: {
      ...NO_RULES,
      ...defaultRules(approvalMode, { threshold: signingThreshold, count: cosigners }),
      ...rules.value,
    },
  };
  // This check precedes the allocation of a number: a vault that is not valid must not use one.
  const wrong = draftFault(initialPolicy(spec));
  if (wrong !== null) return policyProblem(context, wrong, FIELDS_OF_CREATION);
  const foreign = await pinnedKeysFault(context, named);
  if (foreign !== null) return invalidRequest(context, [foreign]);
  const requestsPins = body.cosigners === undefined && approvalMode === 'device';
  const pins = requestsPins ? { cosigners: await fetchPins(context) } : {};
  const nowMs = Date.now();
  const reference = body.reference ?? ulid(nowMs, randomBytes(10));
  const created = await underNextNumber(context, { ...spec, ...pins, reference, foundedAtMs: nowMs });
  return created.ok
    ? context.json(await vaultRecord(context, created.value), 201)
    : policyProblem(context, created.refusal, FIELDS_OF_CREATION);
}

/**
 * Creates the vault under the next number of the directory. A directory that was restored to an
 * earlier state allocates used numbers again. The existing vault then enters its own state into the
 * directory again, and the next number is tried.
 */
async function underNextNumber(context: HttpContext, spec: Omit<VaultSpec, 'id'>): Promise<Result<Vault, PolicyFault>> {
  const { reference, foundedAtMs: createdAtMs, configuration } = spec;
  for (let tries = 0; tries < MAX_TAKEN_NUMBERS; tries++) {
    const entry = { name: configuration.name, reference, createdAtMs };
    const id = parseVaultId(await allocateVault(context.env.DB, entry));
    if (id === null) throw new Error('an allocated vault id is not valid');
    const stub = () => vaultStub(context.env, id);
    const created = await callObject(stub, (vault) =>
      vault.execute(operatorOf(context), { type: 'createVault', spec: { id, ...spec } }),
    );
    if (created.ok) return created;
    if (created.refusal !== 'number-taken') return refused(created.refusal);
    await callObject(stub, (vault) => vault.execute(operatorOf(context), { type: 'requeueProjection' }));
    await callObject(stub, (vault) => vault.work({ type: 'describeVault' }));
  }
  throw new ObjectUnavailable(`no free vault number: ${MAX_TAKEN_NUMBERS} in a row were taken`);
}

/** Returns the members of a new vault, or the fault of the first one that is no user. */
async function readMembers(
  context: HttpContext,
  members: z.output<typeof vaultBody>['members'],
): Promise<Result<readonly Member[], FieldFault>> {
  const read = members.map(({ userId, roles }) => ({ userId: parseUserId(userId), roles }));
  const ids = read.map(({ userId }) => userId);
  if (new Set(ids).size < ids.length) return refused(faultAt('/members', 'Must not contain a user twice.'));
  const users = await knownUserIds(
    context.env.DB,
    ids.filter((id) => id !== null),
  );
  const absent = ids.findIndex((id) => id === null || !users.has(id));
  if (absent >= 0) return refused(faultAt(`/members/${absent}/userId`, 'There is no user with this id.'));
  return accepted(read.flatMap(({ userId, roles }) => (userId === null ? [] : [{ userId, roles }])));
}

/** Returns the object of a vault, or null without an id. */
export function vaultOf(context: HttpContext, vaultId: VaultId | null) {
  return vaultId === null ? null : () => vaultStub(context.env, vaultId);
}

export function noSuchVault(context: HttpContext): Response {
  return problem(context, 'vault-not-found');
}

export async function vaultRecord(context: HttpContext, vault: Vault) {
  const { id, configuration, members, invitations, policy, keys } = vault;
  const founding = await callObject(
    () => vaultStub(context.env, id),
    (stub) => stub.work({ type: 'founding' }),
  );
  const exports = await exportsOfKeys(
    context.env.DB,
    keys.map(({ keyId }) => keyId),
  );
  return {
    id,
    ...configuration,
    bitcoinAddressType: configuration.bitcoinAddressType ?? 'p2tr',
    members: members.map(({ userId, roles }) => ({ userId, roles, accepted: !isInvited(invitations, userId) })),
    policy: policyRecord(policy, chainsFrom(context.env)),
    /** An address is null until the co-signers have generated the key. */
    wallets: configuration.chains.map((chain) => ({
      chain,
      address: keys.find((key) => chain in key.addresses)?.addresses[chain] ?? null,
    })),
    keys: keys.map(({ keyId, scheme, publicKey }) => ({
      keyId,
      scheme,
      publicKey,
      recovery: recoveryRecord(exports.find((one) => one.keyId === keyId)),
    })),
    founding: foundingRecord(founding),
  };
}

function recoveryRecord(exported: KeyExport | undefined) {
  if (exported === undefined) return null;
  const { exportedAtMs, outdatedSinceMs, recipients } = exported;
  return {
    exportedAt: rfc3339OrNull(exportedAtMs),
    outdatedSince: rfc3339OrNull(outdatedSinceMs),
    recoveryKeys: [...recipients],
  };
}

function fault(context: HttpContext, pointer: string, detail: string): Response {
  return invalidRequest(context, [faultAt(pointer, detail)]);
}

function thresholdFault(signingThreshold: number, cosigners: number): FieldFault | null {
  const fewest = minSigners(cosigners);
  if (signingThreshold >= fewest && signingThreshold <= cosigners) return null;
  const detail = `Must be from ${fewest} to ${cosigners}, so that any two groups of co-signers that can sign share one.`;
  return faultAt('/signingThreshold', detail);
}

function faultAt(pointer: string, detail: string): FieldFault {
  return { pointer, code: 'invalid', detail };
}

/** Returns the same faults with pointers inside a part of the body. */
function under(pointer: string, faults: readonly FieldFault[]): readonly FieldFault[] {
  return faults.map((one) => ({ ...one, pointer: `${pointer}${one.pointer}` }));
}
