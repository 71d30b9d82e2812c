import { useState } from 'preact/hooks';
import type { InferRequestType } from 'hono/client';
import { api, good, Refusal } from '#dashboard/api.ts';
import { BadRule } from '#dashboard/forms/rules-draft.ts';
import { ErrorText, LoadedContent, reasonOf, useLoaded } from '#dashboard/shell/loading.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';
import type { Comparison } from '#dashboard/policy/comparison-text.ts';
import { comparisonText, differenceText } from '#dashboard/policy/comparison-text.ts';
import { textsOf } from '#dashboard/policy/draft-review.ts';

const line = api.vault[':vaultId']['policy-comparison'];

type Compared = InferRequestType<(typeof line)['$post']>['json'];

function compare(vaultId: number, json: Compared): Promise<Comparison> {
  return good(line.$post({ param: { vaultId: String(vaultId) }, json }));
}

/** Shows what a pending policy change would have decided about the last payments. */
export function ChangeComparison({ vaultId, changeId }: { readonly vaultId: number; readonly changeId: string }) {
  const { loaded, reload } = useLoaded(`comparison ${changeId}`, () => compare(vaultId, { changeId }));
  return (
    <LoadedContent loaded={loaded} what="the comparison with the last payments" again={reload}>
      {(comparison) => <Differences of={comparison} />}
    </LoadedContent>
  );
}

/**
 * Compares a draft with the last payments, at the request of the person. The result disappears when
 * the draft changes.
 */
export function DraftComparison<Draft>(props: {
  readonly vaultId: number;
  readonly draft: Draft;
  /** Returns the body of the proposal. Throws `BadRule` for a draft that cannot be read. */
  readonly patchOf: (draft: Draft) => NonNullable<Compared['patch']>;
}) {
  const { vaultId, draft, patchOf } = props;
  const [compared, set] = useState<{ readonly draft: Draft; readonly result: Comparison | string } | null>(null);
  const [isLoading, load] = useState(false);
  const start = async () => compare(vaultId, { patch: patchOf(draft) });
  const result = compared?.draft === draft ? compared.result : null;
  return (
    <>
      <button
        type="button"
        disabled={isLoading}
        onClick={() => {
          load(true);
          start()
            .then(
              (comparison) => set({ draft, result: comparison }),
              (error: unknown) => set({ draft, result: faultOf(error) }),
            )
            .finally(() => load(false));
        }}
      >
        Compare with the last 100 payments
      </button>
      {typeof result === 'string' ? <ErrorText why={result} /> : result !== null && <Differences of={result} />}
    </>
  );
}

/** Returns why a draft was not compared. The service names its fields as parts of the patch. */
function faultOf(error: unknown): string {
  if (error instanceof BadRule) return error.message;
  if (!(error instanceof Refusal) || error.faults.length === 0) return reasonOf(error);
  const faults = error.faults.map((fault) => ({ ...fault, pointer: fault.pointer.replace(/^\/patch/, '') }));
  return textsOf(faults).join(' ');
}

function Differences({ of: comparison }: { readonly of: Comparison }) {
  const { different } = comparison;
  return (
    <div role="status">
      <p>{comparisonText(comparison)}</p>
      {different.length > 0 && (
        <details>
          <summary>{different.length === 1 ? 'Show the payment' : `Show the ${different.length} payments`}</summary>
          <ul class="plain">
            {different.map((one) => (
              <li key={one.id}>
                <a href={`#/transaction/${one.id}`}>
                  <Hash value={one.id} />
                </a>{' '}
                would have {differenceText(one)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
