import { useState } from 'preact/hooks';
import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

/** Every step of a transaction, for whoever opens it: a page asks for what its reader looks at, and readers have a limit. */
export function Steps({ transaction }: { readonly transaction: Transaction }) {
  const [isOpen, open] = useState(false);
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>
        <h2>Steps</h2>
      </summary>
      {isOpen && <AllSteps id={transaction.id} version={transaction.version} />}
    </details>
  );
}

/** Oldest first, out of the audit history of its vault. */
function AllSteps({ id, version }: Pick<Transaction, 'id' | 'version'>) {
  const { loaded, reload } = useLoaded(`steps ${id} ${version}`, () =>
    good(api.transaction[':txId'].history.$get({ param: { txId: id }, query: {} })),
  );
  return (
    <LoadedContent loaded={loaded} what="its steps" again={reload}>
      {({ history }) => (
        <ol class="rows">
          {history.map(({ seq, action, actor, from, to, detail, at }) => (
            <li key={seq}>
              <span>
                {action}
                {actor !== null && (
                  <>
                    {' '}
                    by <MemberLabel userId={actor.userId} />
                  </>
                )}
              </span>
              {to !== null && to !== from && <span class="state">{to.toLowerCase()}</span>}
              {detail !== null && <span class="quiet">{detail}</span>}
              <span class="quiet">
                <Time iso={at} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </LoadedContent>
  );
}
