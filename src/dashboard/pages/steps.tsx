import { useState } from 'preact/hooks';
import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { STATE_NAMES, Time } from '#dashboard/pages/record-fields.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';

/**
 * Shows every step of a transaction. The steps are loaded when the reader opens them, because
 * sessions have a rate limit.
 */
export function Steps({ transaction }: { readonly transaction: Transaction }) {
  const [isOpen, open] = useState(false);
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>
        <h2>Activity log</h2>
      </summary>
      {isOpen && <AllSteps id={transaction.id} version={transaction.version} />}
    </details>
  );
}

/** The API gives the states of the history as text. */
const STATES: Readonly<Record<string, string>> = STATE_NAMES;

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'Created',
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Cancellation requested',
  endUnknown: 'Abandoned',
  speedUp: 'Speed-up requested',
  setVisibility: 'Visibility changed',
  dropVotes: 'Approvals removed that no longer count',
  expire: 'Expired',
  prepare: 'Built',
  ask: 'Signing started',
  askInVain: 'Co-signers not reached',
  delaySigning: 'Signing delayed',
  failSigning: 'Signing failed',
  cancelUnsigned: 'Cancelled before it was signed',
  fillNonce: 'Signing failed, nonce to be filled',
  signMessage: 'Message signed',
  sign: 'Signed by the co-signers',
  send: 'Sent to the network',
  refuseBroadcast: 'Refused by the network',
  reprice: 'Fee checked',
  waitForNonce: 'Lower nonce checked',
  abandonReplacement: 'Replacement abandoned',
  include: 'Included in a block',
  miss: 'Not found in the chain',
  endByTime: 'Time limit checked',
  watch: 'Checked again',
  lapse: 'Attempt expired',
  settle: 'Nonce settled',
  observe: 'Observed on the chain',
  judge: 'Spam rules applied again',
};

/** Shows the steps from the audit history of the vault, oldest first. */
function AllSteps({ id, version }: Pick<Transaction, 'id' | 'version'>) {
  const { loaded, reload } = useLoaded(`steps ${id} ${version}`, () =>
    good(api.transaction[':txId'].history.$get({ param: { txId: id }, query: {} })),
  );
  return (
    <LoadedContent loaded={loaded} what="the activity log" again={reload}>
      {({ history }) => (
        <ol class="rows">
          {history.map(({ seq, action, actor, from, to, detail, at }) => (
            <li key={seq}>
              <span>
                {ACTIONS[action] ?? action}
                {actor !== null && (
                  <>
                    {' '}
                    by <MemberLabel userId={actor.userId} />
                  </>
                )}
              </span>
              {to !== null && to !== from && <span class="state">{STATES[to] ?? to}</span>}
              {detail !== null && <span class="quiet">{action === 'reject' ? `“${detail}”` : detail}</span>}
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
