import { hexToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { ChainSignature } from '#chains/chain-rules.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { blamed, completed, type RoundResult } from '#mpc/abort.ts';
import { combinePartials } from '#mpc/ecdsa/combine.ts';
import { aggregate } from '#mpc/frost/aggregate.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { equalParts } from '#mpc/transcript.ts';
import type { GroupFault } from '#cosigner-client/client.ts';

/** The coordinator's data of the signing key. */
export interface SigningKey {
  readonly scheme: KeyScheme;
  readonly threshold: number;
  readonly publicKey: Uint8Array;
  /** The public shares of every co-signer. */
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
}

const partialResult = z.object({ partial: z.string().regex(/^([0-9a-f]{2})+$/) });

/**
 * Combines the co-signers' results into a signature of each message, and verifies it. A result in a
 * wrong form counts as an empty part, for which the combination names the co-signer. Refuses
 * `aborted` with the step and, when it can be determined, the culprit.
 */
export async function combineSignatures(
  key: SigningKey,
  messages: readonly Uint8Array[],
  results: ReadonlyMap<PartyIndex, Readonly<Record<string, unknown>>>,
): Promise<Result<readonly ChainSignature[], GroupFault>> {
  const partsOfSigners = [...results].map(([index, result]) => {
    const parsed = partialResult.safeParse(result);
    return [index, parsed.success ? equalParts(hexToBytes(parsed.data.partial), messages.length) : []] as const;
  });
  const signatures: ChainSignature[] = [];
  for (const [i, message] of messages.entries()) {
    const partials = new Map(partsOfSigners.map(([index, parts]) => [index, parts[i] ?? new Uint8Array()] as const));
    const combined = await combineOne(key, message, partials);
    if (!combined.ok) {
      const { abort } = combined;
      return refused({ cosigner: null, code: 'aborted', detail: abort.step, culprit: blamed(abort) });
    }
    signatures.push(combined.value);
  }
  return accepted(signatures);
}

async function combineOne(
  key: SigningKey,
  message: Uint8Array,
  partials: ReadonlyMap<PartyIndex, Uint8Array>,
): Promise<RoundResult<ChainSignature>> {
  const { scheme, publicKey } = key;
  if (scheme === 'ecdsa-secp256k1') return combinePartials({ publicKey, digest: message, partials });
  const aggregated = await aggregate({ key: { ...key, scheme }, message, partials });
  return aggregated.ok ? completed({ bytes: aggregated.value }) : aggregated;
}

/**
 * Returns public shares from their stored form: number of the co-signer to hex. Throws for data
 * that no co-signer has returned.
 */
export function publicSharesFrom(record: Readonly<Record<string, string>>): ReadonlyMap<PartyIndex, Uint8Array> {
  const shares = new Map<PartyIndex, Uint8Array>();
  for (const [name, hex] of Object.entries(record)) {
    const party = parsePartyIndex(Number.parseInt(name, 10));
    if (party === null) throw new Error('a public share belongs to no co-signer');
    shares.set(party, hexToBytes(hex));
  }
  return shares;
}
