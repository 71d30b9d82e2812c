import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import type { PairStates } from '#cosigner-client/pair-states.ts';
import { pairStatesOf } from '#cosigner-client/pair-states.ts';
import { relay } from '#jobs/signing/relay.ts';

/**
 * Pairs the first two co-signers without a common set-up; returns false when every two have one.
 * Idempotent: a pair that agrees on a set-up is skipped; one that does not (a run stopped when only
 * one side had stored it) makes a new one.
 *
 * @param stale ids of set-ups to replace
 */
export async function pairNextCosigners(
  cosigners: readonly CosignerClient[],
  stale: ReadonlySet<string> = new Set(),
): Promise<Result<boolean, CosignerFault>> {
  const known = await statesOf(cosigners);
  if (!known.ok) return known;
  for (const [i, first] of cosigners.entries()) {
    for (const [k, second] of cosigners.entries()) {
      const [one, other] = [known.value[i]?.[second.index]?.setupId, known.value[k]?.[first.index]?.setupId];
      if (k > i && (one == null || one !== other || stale.has(one))) return pair(first, second);
    }
  }
  return accepted(false);
}

/** Returns the ids of all existing set-ups. */
export async function pairSetups(
  cosigners: readonly CosignerClient[],
): Promise<Result<readonly string[], CosignerFault>> {
  const known = await statesOf(cosigners);
  if (!known.ok) return known;
  const ids = known.value.flatMap((states) => Object.values(states).map(({ setupId }) => setupId));
  return accepted([...new Set(ids.filter((id) => id !== null))]);
}

async function statesOf(cosigners: readonly CosignerClient[]): Promise<Result<readonly PairStates[], CosignerFault>> {
  const known: PairStates[] = [];
  for (const cosigner of cosigners) {
    const states = await pairStatesOf(cosigner);
    if (!states.ok) return states;
    known.push(states.value);
  }
  return accepted(known);
}

async function pair(first: CosignerClient, second: CosignerClient): Promise<Result<boolean, CosignerFault>> {
  const peerOf = (cosigner: CosignerClient) => (cosigner.index === first.index ? second : first);
  const made = await relay({
    cosigners: [first, second],
    path: (cosigner) => `pair/${peerOf(cosigner).index}`,
    request: () => ({}),
  });
  return made.ok ? accepted(true) : made;
}
