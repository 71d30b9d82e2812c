import * as z from 'zod';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { VaultKey } from '#domain/vault.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import type { PolicyInForce } from '#cosigner-client/policy-statements.ts';
import { statementsAfterSync, signedStatement } from '#cosigner-client/policy-statements.ts';
import { vaultStub } from '#objects/vault/stub.ts';

/** The query with a nonce. A reader that verifies statements draws a new nonce for each request. */
export const nonceQuery = z.strictObject({
  nonce: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'Must have 64 lower-case hex digits.')
    .optional(),
});

/**
 * A key of the vault. Its id and its addresses follow from the public key, so a verifier can derive
 * both.
 */
const keySchema = z.strictObject({ keyId: z.string(), scheme: z.enum(KEY_SCHEMES), publicKey: z.string() });

/** The fields from which a verifier learns which policy each co-signer has in force. */
export const statementFields = {
  keys: z.array(keySchema).meta({ description: 'The keys of the vault that the statements refer to' }),
  statements: z
    .array(
      z.strictObject({
        cosigner: z.int(),
        keyId: z.string(),
        statement: z
          .strictObject(signedStatement.shape)
          .nullable()
          .meta({ description: 'Signed with the identity key of the co-signer; null when no statement is available' }),
        fault: z.string().nullable().meta({ description: 'Reason why no statement is available' }),
      }),
    )
    .nullable()
    .meta({
      description:
        'The policy that each co-signer states to have in force for each key, bound to your nonce; null without a ' +
        'nonce. ' +
        'A statement proves nothing until you verify it with identity keys that you have pinned.',
    }),
};

/** A reader does not wait long enough for the statements over more policies than this. */
const MAX_SHOWN = 1000;

/**
 * The keys of a vault, the policy in force and the member who requests the co-signers' statements
 * about them.
 */
interface StatementScope {
  readonly keys: readonly VaultKey[];
  readonly policy: Policy;
  readonly actor: Actor;
}

/**
 * Returns the keys and, when the caller gives a nonce, the statements of all co-signers. An
 * unreachable co-signer has an entry without a statement.
 */
export async function statementRecord(context: HttpContext, scope: StatementScope) {
  const { nonce } = nonceQuery.parse(context.req.query());
  const keys = scope.keys.map(({ keyId, scheme, publicKey }) => ({ keyId, scheme, publicKey }));
  if (nonce === undefined) return { keys, statements: null };
  const { policy, actor } = scope;
  const inForce: PolicyInForce = {
    version: policy.version,
    history: async () => {
      const read = await callObject(
        () => vaultStub(context.env, policy.vaultId),
        (vault) => vault.policyHistory(actor, null, MAX_SHOWN),
      );
      return read.ok ? read.value.toReversed() : [];
    },
  };
  const query = { keyIds: keys.map(({ keyId }) => keyId), nonce };
  return { keys, statements: [...(await statementsAfterSync(cosignersOf(context.env), query, inForce))] };
}
