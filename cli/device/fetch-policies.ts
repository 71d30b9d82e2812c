import { hexToBytes } from '@noble/hashes/utils.js';
import type { InferResponseType } from 'hono/client';
import type { PolicyLink, PolicyLinkBytes } from '#devices/policy-links.ts';
import { readPolicyChain } from '#devices/policy-links.ts';
import { parseDeviceKeyId, parseTokenId, parseUserId } from '#domain/id.ts';
import type { Approval } from '#domain/access/approval.ts';
import type { Client, Connection } from '../api-client.ts';
import { unwrap } from '../api-client.ts';

type Adopted = InferResponseType<Connection['vault'][':vaultId']['policies']['$get']>['data'][number];
type SentApproval = NonNullable<Adopted['mandate']>['approvals'][number];

/**
 * Returns the policies of a vault from this version on to the one that the service calls the
 * newest, each the successor of the one before. Throws when they are not a chain.
 */
export async function fetchPolicyChain(
  client: Client,
  vaultId: number,
  fromVersion: number,
): Promise<readonly PolicyLink[]> {
  const newestFirst: Adopted[] = [];
  let cursor: string | null = null;
  do {
    const query: { cursor?: string } = cursor === null ? {} : { cursor };
    const param = { vaultId: String(vaultId) };
    const page = await unwrap(client.api.vault[':vaultId'].policies.$get({ param, query }));
    newestFirst.push(...page.data);
    // The loop ends when a service repeats the same page.
    const isFurther: boolean = page.data.length > 0 && page.nextCursor !== cursor;
    cursor = isFurther ? page.nextCursor : null;
  } while (cursor !== null && (newestFirst.at(-1)?.policy.version ?? 0) > fromVersion);
  const requested = newestFirst.filter(({ policy }) => policy.version >= fromVersion).toReversed();
  const chain = readPolicyChain(vaultId, requested.map(documentOf));
  if (!chain.ok) throw new Error(`The policies from the service do not form a chain: ${chain.refusal}`);
  return chain.value;
}

function documentOf({ policy, mandate }: Adopted): PolicyLinkBytes {
  const sent =
    mandate === null
      ? null
      : {
          bytes: hexToBytes(mandate.canonical),
          approvals: mandate.approvals.map(approvalOf).filter((one) => one !== null),
        };
  return { policy: hexToBytes(policy.canonical), mandate: sent };
}

/** An approval counts by its user and its device signature. The token is not verified. */
const ANY_TOKEN = parseTokenId('0'.repeat(16));

/** Returns null for an invalid approval, which does not count. */
function approvalOf({ userId, digest, device }: SentApproval): Approval | null {
  const [user, keyId] = [parseUserId(userId), parseDeviceKeyId(device?.keyId ?? '')];
  if (user === null || ANY_TOKEN === null) return null;
  const { authenticatorData = null, clientDataJSON = null } = device ?? {};
  const assertion =
    authenticatorData === null || clientDataJSON === null
      ? null
      : { authenticatorData, clientDataJson: clientDataJSON };
  const signed = device === null || keyId === null ? null : { keyId, signature: device.signature, assertion };
  return { actor: { userId: user, tokenId: ANY_TOKEN, address: null }, digest, device: signed, atMs: 0 };
}
