import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import { isUnanswered } from '#cosigner-client/client.ts';

const receiptAnswer = z.object({ receipt: z.string().regex(/^[0-9a-f]{128}$/) });

/**
 * Returns the receipts of co-signers that take no part in a signature, by their numbers
 * (cosigner/policy/receipt.ts). An unreachable one returns none: the signers decide whether they
 * sign without it. A refusal is a fault, since the next group may refuse the same request.
 */
export async function receiptsOf(
  cosigners: readonly CosignerClient[],
  keyId: string,
  request: unknown,
): Promise<Result<Readonly<Record<string, string>>, CosignerFault>> {
  const receipts: Record<string, string> = {};
  const answers = await Promise.all(cosigners.map((cosigner) => cosigner.call(`key/${keyId}/receipt`, { request })));
  for (const [i, answer] of answers.entries()) {
    const cosigner = cosigners[i];
    if (cosigner === undefined) continue;
    if (!answer.ok && !isUnanswered(answer.refusal)) return refused(answer.refusal);
    const read = answer.ok ? receiptAnswer.safeParse(answer.value) : null;
    if (read?.success === true) receipts[String(cosigner.index)] = read.data.receipt;
  }
  return accepted(receipts);
}
