import * as z from 'zod';
import { cosignersOf } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import type { CosignerState, ShareRecord } from '#domain/operations/cosigner.ts';
import { SHARE_FAULTS } from '#domain/operations/cosigner.ts';
import { rfc3339OrNull } from '#http/encode/rfc3339.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { errorText } from '#store/error-text.ts';
import { keysToTest } from '#store/operations/key-exports.ts';

const time = z.iso.datetime();

/** A co-signer in the status. */
export const cosignerSchema = z.strictObject({
  node: z.int(),
  fault: z.string().nullable().meta({ description: 'Null for a co-signer that is available' }),
  setting: z.string().nullable().meta({ description: 'The wrong setting of a misconfigured co-signer' }),
  banned: z.array(z.int()).meta({ description: 'Co-signers that this co-signer has banned' }),
  recoveryKey: z
    .string()
    .nullable()
    .meta({ description: 'The public key that it seals recovery packages for; null when it names none' }),
  clockSkewMs: z.int().nullable().meta({ description: 'By how much its clock is ahead of the coordinator' }),
  peersHash: z.string().nullable().meta({ description: 'A hash of its PEERS, equal at all co-signers' }),
  release: z.string().nullable().meta({ description: 'The version of its release' }),
  stateVersion: z.int().nullable().meta({ description: 'The newest state that its release knows' }),
  shares: z
    .strictObject({ keys: z.int(), oldestMadeAt: time.nullable(), newestMadeAt: time.nullable() })
    .nullable()
    .meta({ description: 'Its shares of all keys that were tested so far; each key is tested within a day' }),
  testedKeys: z
    .array(
      z.strictObject({
        keyId: z.string(),
        epoch: z.int().nullable(),
        madeAt: time.nullable(),
        fault: z.enum(SHARE_FAULTS).nullable(),
      }),
    )
    .meta({
      description:
        'The shares that it has opened for this answer, others in the next quarter hour, and all faulty ones',
    }),
});

/**
 * Returns the states of the co-signers; none when the settings do not name them, or do not sign a
 * request to them. Then `settings` has the cause.
 */
export async function cosignersIn(env: CoordinatorEnv, nowMs: number): Promise<readonly CosignerState[]> {
  const keyIds = await keysToTest(env.DB, nowMs);
  try {
    return await statesOfCosigners(cosignersOf(env), keyIds);
  } catch (error) {
    console.error(JSON.stringify({ event: 'cosigners-not-called', error: errorText(error) }));
    return [];
  }
}

/** Returns a co-signer as the status has it. */
export function cosignerOf(
  { node, fault, setting, banned, recoveryKey, test }: CosignerState,
  records: readonly ShareRecord[],
) {
  const record = records.find((one) => one.node === node);
  return {
    node,
    fault,
    setting,
    banned: [...banned],
    recoveryKey: recoveryKey || null,
    clockSkewMs: test?.skewMs ?? null,
    peersHash: test?.peers ?? null,
    release: test?.release ?? null,
    stateVersion: test?.stateVersion ?? null,
    shares:
      record === undefined
        ? null
        : {
            keys: record.keys,
            oldestMadeAt: rfc3339OrNull(record.oldestMadeAtMs),
            newestMadeAt: rfc3339OrNull(record.newestMadeAtMs),
          },
    testedKeys: (test?.keys ?? []).map(({ madeAtMs, ...key }) => ({ ...key, madeAt: rfc3339OrNull(madeAtMs) })),
  };
}
