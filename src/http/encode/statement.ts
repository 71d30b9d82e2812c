import * as z from 'zod';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { policyStatements, signedStatement } from '#cosigner-client/policy-statements.ts';

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

/**
 * Returns the keys and, when the caller gives a nonce, the statements of all co-signers. An
 * unreachable co-signer has an entry without a statement.
 *
 * It brings no policies to co-signers: the vault does so when it adopts them.
 */
export async function statementRecord(
  context: HttpContext,
  vaultKeys: readonly VaultKey[],
  { nonce }: z.infer<typeof nonceQuery>,
) {
  const keys = vaultKeys.map(({ keyId, scheme, publicKey }) => ({ keyId, scheme, publicKey }));
  if (nonce === undefined) return { keys, statements: null };
  const keyIds = keys.map(({ keyId }) => keyId);
  return { keys, statements: [...(await policyStatements(cosignersOf(context.env), keyIds, nonce))] };
}
