import * as z from 'zod';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import type { CosignerTest } from '#domain/operations/cosigner.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A co-signer may return anything. */
const MAX_TEXT = 128;

const text = z.string().max(MAX_TEXT);

const testedShare = z.object({
  keyId: text,
  epoch: z.int().nullable(),
  madeAtMs: z.int().nullable(),
  fault: z.enum(['missing', 'unreadable', 'too-old']).nullable(),
});

const selfTest = z.object({
  clockMs: z.int(),
  peers: text,
  recoveryKey: text.nullable(),
  keyEncryption: z.array(text).max(100),
  isSecretReused: z.boolean(),
  release: text,
  stateVersion: z.int(),
  keys: z.array(testedShare).max(100),
});

/** A self-test with the recovery key of the co-signer, an empty text without one. */
export interface SelfTest {
  readonly test: CosignerTest;
  readonly recoveryKey: string;
}

/**
 * Has a co-signer open its shares of some keys and state its settings. The co-signer states all of
 * this itself: a wrong setting is found, and a lie is not.
 */
export async function selfTestOf(
  cosigner: CosignerClient,
  keyIds: readonly string[],
): Promise<Result<SelfTest, CosignerFault>> {
  const sentAtMs = Date.now();
  const answer = await cosigner.call('self/test', { keyIds });
  if (!answer.ok) return answer;
  const { success, data } = selfTest.safeParse(answer.value);
  const { index } = cosigner;
  if (!success) return refused({ cosigner: index, code: 'internal', detail: 'self-test', culprit: index });
  const { clockMs, recoveryKey, ...stated } = data;
  // The co-signer read its clock at some time between.
  const skewMs = clockMs - Math.round((sentAtMs + Date.now()) / 2);
  return accepted({ test: { skewMs, ...stated }, recoveryKey: recoveryKey ?? '' });
}
