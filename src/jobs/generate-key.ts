import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical.ts';
import type { KeyScheme } from '#domain/chain.ts';
import type { KeyId } from '#domain/id.ts';
import { parseKeyId } from '#domain/id.ts';
import type { Policy } from '#domain/policy.ts';
import type { VaultKey } from '#domain/vault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#jobs/cosigner-client.ts';
import { pairNodes } from '#jobs/pair-nodes.ts';
import type { SigningKey } from '#jobs/combine.ts';
import { combineSignatures, publicSharesFrom } from '#jobs/combine.ts';
import { relay } from '#jobs/relay.ts';

export interface KeyRequest {
  readonly scheme: KeyScheme;
  /** How many nodes sign together. */
  readonly threshold: number;
  /** Every policy of the vault so far, in order: pinned together with the key. */
  readonly policies: readonly Policy[];
}

export type GeneratedKey = Omit<VaultKey, 'addresses'>;

const point = z.string().regex(/^(0[23])?[0-9a-f]{64}$/);
const keyResult = z.object({ keyId: z.string(), publicKey: point, publicShares: z.record(z.string(), point) });

/**
 * Lets all co-signers generate a key, and then every group of them that could sign prove that it can, over a text that no chain
 * would take. Only a key that all of them can use is given out: money must never wait on an address that nobody can spend from.
 */
export async function generateKey(
  nodes: readonly CosignerClient[],
  request: KeyRequest,
): Promise<Result<GeneratedKey, { readonly reason: string }>> {
  const paired = await pairNodes(nodes);
  if (!paired.ok) return because('pairing', paired.refusal);
  const run = bytesToHex(randomBytes(16));
  const made = await relay({ nodes, place: () => `keygen/${run}`, request: () => request });
  if (!made.ok) return because('key generation', made.refusal);
  const keys = [...made.value.values()].map((result) => keyResult.safeParse(result));
  const [first] = keys;
  const same = keys.every((key) => key.success && JSON.stringify(key.data) === JSON.stringify(first?.data));
  const keyId = parseKeyId(first?.data?.keyId ?? '');
  if (first?.success !== true || !same || keyId === null) return refused({ reason: 'the nodes name different keys' });
  const { publicKey, publicShares } = first.data;
  const { scheme, threshold } = request;
  const key: SigningKey = {
    scheme,
    threshold,
    publicKey: hexToBytes(publicKey),
    publicShares: publicSharesFrom(publicShares),
  };
  for (const signers of groupsOf(nodes, threshold)) {
    const unproven = await prove(signers, keyId, key);
    if (unproven !== null) return refused({ reason: unproven });
  }
  return accepted({ keyId, scheme, publicKey, publicShares });
}

/** A signature of these nodes over the name of the key; null when it verifies, else why not. */
async function prove(signers: readonly CosignerClient[], keyId: KeyId, key: SigningKey): Promise<string | null> {
  const indices = signers.map((node) => node.index);
  const signed = await relay({
    nodes: signers,
    place: () => `key/${keyId}`,
    request: () => ({ signers: indices, request: null }),
  });
  if (!signed.ok) return faultText('proof', signed.refusal);
  const digest = sha256(canonicalBytes('conclave/key-proof/v1', [['keyId', keyId]]));
  const combined = combineSignatures(key, [digest], signed.value);
  return combined.ok ? null : `proof: ${combined.abort.step}`;
}

/** Every choice of `size` nodes, in order. */
export function groupsOf<T>(nodes: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return nodes.flatMap((node, i) => groupsOf(nodes.slice(i + 1), size - 1).map((rest) => [node, ...rest]));
}

function because(what: string, fault: CosignerFault) {
  return refused({ reason: faultText(what, fault) });
}

function faultText(what: string, { node, code, detail, culprit }: CosignerFault): string {
  const blamed = culprit === null ? '' : `, blames node ${culprit}`;
  return `${what}: node ${node} ${code}${detail === null ? '' : ` (${detail})`}${blamed}`;
}
