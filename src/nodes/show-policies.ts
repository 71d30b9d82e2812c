import type { AdoptedPolicy } from '#domain/policy-change.ts';
import type { Vote } from '#domain/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#nodes/cosigner-client.ts';

/** Shows nodes every version of a policy, in order, each with what makes it follow the one before: what they know already changes nothing. */
export async function showPolicies(
  nodes: readonly CosignerClient[],
  keyId: string,
  policies: readonly AdoptedPolicy[],
): Promise<Result<null, CosignerFault>> {
  for (const node of nodes) {
    for (const adopting of policies) {
      const adopted = await node.call(`key/${keyId}/policy`, sentPolicy(adopting));
      if (!adopted.ok) return adopted;
    }
  }
  return accepted(null);
}

/** Where a voice came from stays with the coordinator. */
export function sentVote({ actor: { userId, tokenId }, digest, device, atMs }: Vote) {
  return { actor: { userId, tokenId }, digest, device, atMs };
}

function sentPolicy({ policy, mandate }: AdoptedPolicy) {
  if (mandate === null) return { policy, mandate };
  const { id, note, createdAtMs, expiresAtMs, approvals } = mandate;
  return { policy, mandate: { id, note, createdAtMs, expiresAtMs, approvals: approvals.map(sentVote) } };
}
