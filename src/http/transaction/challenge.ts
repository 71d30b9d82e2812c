import * as z from 'zod';
import { bytesToHex } from '@noble/hashes/utils.js';
import { warningsOf } from '#chains/inspect/warnings.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { ListedToken } from '#domain/asset/chain.ts';
import { warning } from '#http/encode/transaction-schema.ts';
import { requiredApprovalsNow, currentApprovers, hasApproved } from '#domain/transaction/approvals.ts';
import { approvalOrigins, passkeyWarnings } from '#devices/approval-origin.ts';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { deviceRecord, deviceSchema } from '#http/encode/policy.ts';
import { nonceQuery, statementFields, statementRecord } from '#http/encode/statement.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { vaultStubOf } from '#http/transaction/transaction-path.ts';
import { rejectionOfTransaction } from '#devices/rejection.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { ChallengeView } from '#objects/vault/views.ts';

const challengeSchema = z
  .strictObject({
    transactionId: z.string(),
    vaultId: z.int(),
    version: z.literal('conclave/intent/v1'),
    algorithm: z.literal('sha-256'),
    digest: z.string().meta({ description: 'Hex SHA-256 of the field `canonical`' }),
    canonical: z.string().meta({ description: 'Canonical bytes of the intent, in hex' }),
    intent: z.looseObject({ kind: z.string() }).meta({ description: 'Every field that an approval covers' }),
    approvals: z.strictObject({
      required: z.int(),
      count: z.int(),
      remaining: z.int(),
      byMe: z.boolean(),
    }),
    warnings: z
      .array(warning)
      .meta({ description: 'Warnings of the transaction; they are not part of the approved intent' }),
    earlier: z
      .strictObject({
        count: z.int(),
        lastAt: z.iso.datetime().nullable().meta({ description: 'When the last of them was signed' }),
      })
      .nullable()
      .meta({
        description:
          'The transactions of the same kind that succeeded on the same chain with the same recipient, contract or ' +
          'spender; null for a message. They are not part of the approved intent',
      }),
    policy: z.strictObject({
      version: z.int(),
      threshold: z.int(),
      signers: z.array(z.string()),
      approvalMode: z.enum(APPROVAL_MODES),
      hash: z.string().meta({ description: 'Hex SHA-256 of the canonical bytes of the policy' }),
      canonical: z.string().meta({ description: 'Canonical bytes of the policy in force, in hex' }),
    }),
    ...statementFields,
    devices: z
      .array(deviceSchema)
      .meta({ description: 'Devices of the caller; any of them can sign the 32 bytes of the digest' }),
    rejection: z.strictObject({ canonical: z.string(), digest: z.string() }).meta({
      description: 'Canonical bytes of the rejection in hex, and their SHA-256, which a device signs to reject',
    }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'Challenge' });

/**
 * GET /transaction/{txId}/challenge: returns what a signer approves or rejects. The digest is the
 * SHA-256 of `canonical`, and `canonical` follows from `intent` by the encoding of
 * domain/canonical/bytes.ts, so a signer can recompute both offline. With a nonce, the response
 * contains the statements of the co-signers for the key that would sign.
 */
export const challenge = route({
  method: 'GET',
  path: '/transaction/:txId/challenge',
  access: 'read',
  byDevice: true,
  summary: 'Read the challenge of a transaction and, with a nonce, the statements of the co-signers',
  query: nonceQuery,
  answer: { status: 200, schema: challengeSchema },
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending'],
  handle: async (
    context: HttpContext,
    { params: { txId: id }, query }: Input<{ params: 'txId'; query: typeof nonceQuery }>,
  ) => {
    const actor = actorOf(context);
    const read = await callObject(
      () => vaultStubOf(context, id),
      (vault) => vault.query(actor, { type: 'challenge', id }),
    );
    if (!read.ok) return refusalProblem(context, read.refusal);
    const { transaction } = read.value;
    const keys = read.value.keys.filter(({ addresses }) => transaction.chain in addresses);
    const statements = await statementRecord(context, keys, query);
    const tokens = findChain(chainsFrom(context.env), transaction.chain)?.tokens ?? [];
    const request = challengeOf(read.value, tokens);
    const warnings = [...request.warnings, ...passkeyWarnings(request.devices, approvalOrigins(context.env))];
    return context.json({ ...request, warnings, ...statements });
  },
});

function challengeOf(
  { transaction, policy, viewer, earlier }: ChallengeView,
  tokens: readonly ListedToken[],
): Omit<z.input<typeof challengeSchema>, keyof typeof statementFields> {
  const { intent } = transaction;
  const [required, count] = [requiredApprovalsNow(transaction, policy), currentApprovers(transaction, policy).length];
  return {
    transactionId: transaction.id,
    vaultId: transaction.vaultId,
    version: 'conclave/intent/v1',
    algorithm: 'sha-256',
    digest: transaction.digest,
    canonical: bytesToHex(intentBytes(intent)),
    intent: { ...intent },
    approvals: {
      required,
      count,
      remaining: Math.max(0, required - count),
      byMe: hasApproved(transaction, viewer.userId),
    },
    warnings: warningsOf(intent, tokens),
    earlier:
      earlier === null
        ? null
        : { count: earlier.count, lastAt: earlier.lastAtMs === null ? null : rfc3339(earlier.lastAtMs) },
    policy: {
      version: policy.version,
      threshold: policy.threshold,
      signers: [...policy.signers],
      approvalMode: policy.approvalMode,
      hash: policyHashOf(policy),
      canonical: bytesToHex(policyBytes(policy)),
    },
    devices: policy.devices.filter(({ userId }) => userId === viewer.userId).map(deviceRecord),
    rejection: rejectionOfTransaction(transaction),
    expiresAt: rfc3339(intent.expiresAtMs),
  };
}
