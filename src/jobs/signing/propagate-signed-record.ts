import * as z from 'zod';
import type { CosignerClient } from '#cosigner-client/client.ts';

const attestation = z.array(
  z.object({ record: z.looseObject({ attempt: z.int() }), signature: z.string().regex(/^[0-9a-f]{128}$/) }),
);

/**
 * Propagates the signed record of a transaction to co-signers that did not take part in the
 * signature, with the attestations of those that did. So no other group signs anything different,
 * even if a co-signer's storage is rolled back, and any group may sign a replacement. Idempotent.
 * An unreachable co-signer receives it the next time, and refuses until then what it has missed.
 *
 * @param threshold of the key: the number of required attestations
 */
export async function propagateSignedRecord(
  cosigners: readonly CosignerClient[],
  {
    keyId,
    transactionId,
    threshold,
  }: { readonly keyId: string; readonly transactionId: string; readonly threshold: number },
): Promise<void> {
  const said = await Promise.all(
    cosigners.map(async (cosigner) => {
      const answer = await cosigner.call(`key/${keyId}/signed`, { transactionId });
      const lines = answer.ok ? attestation.safeParse(answer.value) : null;
      return lines?.success === true ? { cosigner, lines: lines.data } : null;
    }),
  );
  const present = said.filter((one) => one !== null);
  const known = Map.groupBy(
    present.flatMap(({ cosigner, lines }) => lines.map((line) => ({ cosigner, ...line }))),
    ({ record }) => JSON.stringify(record),
  );
  const proven = [...known.values()].filter((all) => all.length >= threshold);
  for (const all of proven.toSorted(([one], [other]) => (one?.record.attempt ?? 0) - (other?.record.attempt ?? 0))) {
    const witnesses = Object.fromEntries(all.map(({ cosigner, signature }) => [String(cosigner.index), signature]));
    const uninformed = present.filter(({ cosigner }) => !(String(cosigner.index) in witnesses));
    await Promise.all(
      uninformed.map(({ cosigner }) => cosigner.call(`key/${keyId}/witness`, { record: all[0]?.record, witnesses })),
    );
  }
}
