import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical.ts';
import type { KeyId } from '#domain/id.ts';
import { parseKeyId } from '#domain/id.ts';
import type { Policy } from '#domain/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#jobs/cosigner-client.ts';
import { pairNodes } from '#jobs/pair-nodes.ts';
import { relay } from '#jobs/relay.ts';
import { combinePartials } from '#mpc/ecdsa/combine.ts';
import type { PartyIndex } from '#mpc/party.ts';

export interface KeyRequest {
  /** How many nodes sign together. */
  readonly threshold: number;
  /** Every policy of the vault so far, in order: pinned together with the key. */
  readonly policies: readonly Policy[];
}

export interface GeneratedKey {
  readonly keyId: KeyId;
  /** Hex of the 33-byte group key. */
  readonly publicKey: string;
}

const keyResult = z.object({ keyId: z.string(), publicKey: z.string().regex(/^0[23][0-9a-f]{64}$/) });
const partialResult = z.object({ partial: z.string().regex(/^[0-9a-f]+$/) });

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
  const same = keys.every((key) => key.success && key.data.publicKey === first?.data?.publicKey);
  const keyId = parseKeyId(first?.data?.keyId ?? '');
  if (first?.success !== true || !same || keyId === null) return refused({ reason: 'the nodes name different keys' });
  const { publicKey } = first.data;
  for (const signers of groupsOf(nodes, request.threshold)) {
    const proven = await prove(signers, keyId, publicKey);
    if (proven !== null) return refused({ reason: proven });
  }
  return accepted({ keyId, publicKey });
}

/** A signature of these nodes over the name of the key; null when it verifies, else why not. */
async function prove(signers: readonly CosignerClient[], keyId: KeyId, publicKey: string): Promise<string | null> {
  const indices = signers.map((node) => node.index);
  const signed = await relay({
    nodes: signers,
    place: () => `key/${keyId}`,
    request: () => ({ signers: indices, request: null }),
  });
  if (!signed.ok) return faultText('proof', signed.refusal);
  const digest = sha256(canonicalBytes('conclave/key-proof/v1', [['keyId', keyId]]));
  const partials = partialsOf(signed.value);
  const combined = combinePartials({ publicKey: hexToBytes(publicKey), digest, partials });
  return combined.ok ? null : `proof: ${combined.abort.step}`;
}

/** The partial signature of each node; one that gives none has an empty one, which the combination refuses by name. */
export function partialsOf(
  results: ReadonlyMap<PartyIndex, Readonly<Record<string, unknown>>>,
): ReadonlyMap<PartyIndex, Uint8Array> {
  return new Map(
    [...results].map(([index, result]) => {
      const parsed = partialResult.safeParse(result);
      return [index, parsed.success ? hexToBytes(parsed.data.partial) : new Uint8Array()] as const;
    }),
  );
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
