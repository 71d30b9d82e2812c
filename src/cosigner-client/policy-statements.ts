import * as z from 'zod';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { syncPolicies } from '#cosigner-client/sync-policies.ts';

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

/** The policy that the coordinator has in force. */
export interface PolicyInForce {
  readonly version: number;
  /** Every policy, in order. */
  readonly history: () => Promise<readonly AdoptedPolicy[]>;
}

/**
 * Returns the statements after co-signers with an older policy have received the newer ones. A
 * co-signer learns of a policy change only when it receives it, and a signer would otherwise see
 * each change as a disagreement until the next signature. A co-signer that refuses the change, or
 * is unreachable, keeps its first statement.
 */
export async function statementsAfterSync(
  cosigners: readonly CosignerClient[],
  { keyIds, nonce }: { readonly keyIds: readonly string[]; readonly nonce: string },
  inForce: PolicyInForce,
): Promise<readonly DeliveredStatement[]> {
  const delivered = await policyStatements(cosigners, keyIds, nonce);
  const isBehind = ({ statement }: DeliveredStatement) =>
    statement !== null && statement.policyVersion < inForce.version;
  if (!delivered.some(isBehind)) return delivered;
  const history = await inForce.history();
  return Promise.all(
    delivered.map(async (one) => {
      const cosigner = cosigners.find(({ index }) => index === one.cosigner);
      if (!isBehind(one) || cosigner === undefined) return one;
      const newer = history.filter(({ policy }) => policy.version > (one.statement?.policyVersion ?? 0));
      const audience = { cosigners: [cosigner], attesters: cosigners, keyId: one.keyId };
      const shown = await syncPolicies(audience, newer);
      return shown.ok ? statementOf(cosigner, one.keyId, nonce) : one;
    }),
  );
}

async function statementOf(cosigner: CosignerClient, keyId: string, nonce: string): Promise<DeliveredStatement> {
  const none = (fault: string) => ({ cosigner: cosigner.index, keyId, statement: null, fault });
  const answer = await cosigner.call(`key/${keyId}/statement`, { nonce });
  if (!answer.ok) return none(answer.refusal.code);
  const statement = signedStatement.safeParse(answer.value);
  if (!statement.success) return none('unreachable');
  return { cosigner: cosigner.index, keyId, statement: statement.data, fault: null };
}
