import type { FieldFault } from '#dashboard/problem-text.ts';
import { faultText } from '#dashboard/problem-text.ts';
import { BadRule, patchOf } from '#dashboard/forms/rules-draft.ts';
import type { AssetChoice, RulesDraft, RulesOfPolicy } from '#dashboard/forms/rules-draft.ts';
import type { draftReader, DraftReview } from '#review/policy-draft.ts';

/** What the draft of a policy change does. */
export type ReadDraft =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'unreadable'; readonly faults: readonly FieldFault[] }
  | { readonly kind: 'difference'; readonly review: DraftReview };

/** Returns what a draft does, or the fields that cannot be read. */
export function readDraft(
  read: ReturnType<typeof draftReader>,
  draft: RulesDraft,
  { policy, assets }: { readonly policy: RulesOfPolicy; readonly assets: readonly AssetChoice[] },
): ReadDraft {
  try {
    const reviewed = read(patchOf(draft, policy, assets));
    if (!reviewed.ok) return { kind: 'unreadable', faults: reviewed.refusal };
    return { kind: 'difference', review: reviewed.value };
  } catch (error) {
    if (!(error instanceof BadRule)) throw error;
    return error.faults.length === 0 ? { kind: 'unchanged' } : { kind: 'unreadable', faults: error.faults };
  }
}

/** Returns one text for each fault, with the name of its field. */
export function textsOf(faults: readonly FieldFault[]): readonly string[] {
  return [...new Set(faults.map(faultText))];
}
