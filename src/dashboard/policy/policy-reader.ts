import { Contradiction } from '#dashboard/decision/contradiction.ts';
import type { Fact } from '#review/fact.ts';
import type { draftReader, PolicyBytes } from '#review/policy-draft.ts';

/** Reads the bytes of a policy. The readers are loaded when they are needed. */

/**
 * Loads the reader of drafts of a policy. Throws `Contradiction` when the service sends no policy.
 */
export async function loadDraftReader(policy: PolicyBytes): Promise<ReturnType<typeof draftReader>> {
  const review = await import('#review/policy-draft.ts');
  return held(() => review.draftReader(policy));
}

/** Loads the reader of sentences before it is needed. A failure is shown when it is needed. */
export function prepareSentences(): void {
  import('#review/policy-sentences.ts').catch(() => {});
}

/**
 * Returns the rules of a policy as sentences. Throws `Contradiction` when the service sends no
 * policy.
 *
 * @param canonical bytes of the policy, in hex
 */
export async function sentencesOf(canonical: string): Promise<readonly Fact[]> {
  const { readSentences } = await import('#review/policy-sentences.ts');
  return held(() => readSentences(canonical));
}

async function held<T>(read: () => T): Promise<T> {
  const { InvalidDocument } = await import('#domain/canonical/field-reader.ts');
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidDocument) throw new Contradiction(error.message);
    throw error;
  }
}
