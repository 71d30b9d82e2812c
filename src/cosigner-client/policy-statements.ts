import * as z from 'zod';
import type { SignedStatement } from '#domain/policy/statement.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));

export const signedStatement = z.object({
  cosigner: z.int(),
  vaultId: z.int(),
  keyId: z.string().max(64),
  policyVersion: z.int(),
  policyHash: hex(32),
  signingThreshold: z.int(),
  epoch: z.int(),
  issuedAtMs: z.int(),
  nonce: hex(32),
  signature: hex(64),
});

/** One co-signer's statement for one key, or why there is none. */
export interface DeliveredStatement {
  readonly cosigner: number;
  readonly keyId: string;
  readonly statement: SignedStatement | null;
  /** The co-signer's refusal, or `unreachable`; null with a statement. */
  readonly fault: string | null;
}

/**
 * Returns each co-signer's statement for each of these keys: one entry for each, also for
 * unreachable co-signers. All are called at the same time, so this takes no longer than one
 * time-out. The statements are returned unverified: the reader must verify them.
 */
export function policyStatements(
  cosigners: readonly CosignerClient[],
  keyIds: readonly string[],
  nonce: string,
): Promise<readonly DeliveredStatement[]> {
  const queries = keyIds.flatMap((keyId) => cosigners.map((cosigner) => ({ keyId, cosigner })));
  return Promise.all(queries.map(({ keyId, cosigner }) => statementOf(cosigner, keyId, nonce)));
}

async function statementOf(cosigner: CosignerClient, keyId: string, nonce: string): Promise<DeliveredStatement> {
  const none = (fault: string) => ({ cosigner: cosigner.index, keyId, statement: null, fault });
  const answer = await cosigner.call(`key/${keyId}/statement`, { nonce });
  if (!answer.ok) return none(answer.refusal.code);
  const statement = signedStatement.safeParse(answer.value);
  if (!statement.success) return none('unreachable');
  return { cosigner: cosigner.index, keyId, statement: statement.data, fault: null };
}
