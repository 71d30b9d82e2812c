import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { Shown, useLoaded } from '#dashboard/loading.tsx';
import { Time } from '#dashboard/parts.tsx';
import { Who } from '#dashboard/people.tsx';

/** Every step of a transaction, oldest first, out of the audit history of its vault. */
export function Steps({ transaction }: { readonly transaction: Transaction }) {
  const { id, version } = transaction;
  const { loaded, reload } = useLoaded(`steps ${id} ${version}`, () =>
    good(api.transaction[':txId'].history.$get({ param: { txId: id }, query: {} })),
  );
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <Shown loaded={loaded} what="its steps" again={reload}>
        {({ history }) => (
          <ol class="rows">
            {history.map(({ seq, action, actor, from, to, detail, at }) => (
              <li key={seq}>
                <span>
                  {action}
                  {actor !== null && (
                    <>
                      {' '}
                      by <Who userId={actor.userId} />
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
      </Shown>
    </section>
  );
}
