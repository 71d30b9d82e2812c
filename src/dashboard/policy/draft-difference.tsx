import { useMemo } from 'preact/hooks';
import { ReviewFacts, ReviewWarnings } from '#dashboard/decision/review-facts.tsx';
import type { AssetChoice, RulesDraft, RulesOfPolicy } from '#dashboard/forms/rules-draft.ts';
import { patchOf } from '#dashboard/forms/rules-draft.ts';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { DraftComparison } from '#dashboard/policy/comparison.tsx';
import { readDraft, textsOf } from '#dashboard/policy/draft-review.ts';
import { loadDraftReader } from '#dashboard/policy/policy-reader.ts';

type Reader = Awaited<ReturnType<typeof loadDraftReader>>;

interface Drafted {
  readonly draft: RulesDraft;
  /** The policy in force. */
  readonly policy: RulesOfPolicy & { readonly canonical: string; readonly hash: string; readonly vaultId: number };
  readonly assets: readonly AssetChoice[];
}

/**
 * Shows what the draft changes, while a person edits it, in the words of the approval page. It is
 * computed in the browser, without a request.
 */
export function DraftDifference(props: Drafted & { readonly isDraft: boolean }) {
  const { draft, policy, assets, isDraft } = props;
  const { canonical, hash } = policy;
  const { loaded, reload } = useLoaded(`draft of ${hash}`, () => loadDraftReader({ canonical, isDraft }));
  return (
    <section class="card" aria-label="What this changes">
      <h2>What this changes</h2>
      <LoadedContent loaded={loaded} what="the comparison" again={reload}>
        {(read) => <Difference read={read} {...props} />}
      </LoadedContent>
      <DraftComparison vaultId={policy.vaultId} draft={draft} patchOf={(drafted) => patchOf(drafted, policy, assets)} />
    </section>
  );
}

function Difference({ read, draft, policy, assets }: Drafted & { readonly read: Reader }) {
  const drafted = useMemo(() => readDraft(read, draft, { policy, assets }), [read, draft, policy]);
  switch (drafted.kind) {
    case 'unchanged':
      return <p class="quiet">Nothing yet.</p>;
    case 'unreadable':
      return (
        <>
          <p>No difference is shown, because a field cannot be read:</p>
          <ul>
            {textsOf(drafted.faults).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      );
    case 'difference': {
      const { changes, warnings, notes } = drafted.review;
      return (
        <>
          <ReviewFacts facts={changes} />
          {notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
          <ReviewWarnings warnings={warnings} />
        </>
      );
    }
  }
}
