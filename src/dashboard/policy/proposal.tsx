import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { InferResponseType } from 'hono/client';
import type { Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { NoteQuote } from '#dashboard/decision/claims.tsx';
import { Decision } from '#dashboard/decision/decision.tsx';
import { RejectionText } from '#dashboard/decision/rejection.tsx';
import { reviewOf } from '#dashboard/decision/review.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { ErrorText, reasonOf } from '#dashboard/shell/loading.tsx';
import { approvalsText } from '#dashboard/text.ts';

type Change = InferResponseType<(typeof api.vault)[':vaultId']['policy-change']['$get']>['policyChanges'][number];

const CHANGE_STATES = {
  PENDING: 'Pending approval',
  ADOPTED: 'Adopted',
  REJECTED: 'Rejected',
  CANCELLED: 'Cancelled',
  EXPIRED: 'Expired',
  SUPERSEDED: 'Superseded',
} as const satisfies Readonly<Record<Change['state'], string>>;

const CANCEL_CHANGE: Confirmation = {
  heading: 'Cancel this policy change?',
  warning: 'It ends permanently. A new proposal needs all approvals again.',
  action: 'Cancel policy change',
};

/** Shows a policy change, and the decision when it waits for one of this person. */
export function Proposal(props: {
  readonly change: Change;
  readonly me: Person;
  readonly decided: () => void;
  /** Shown before the decision. */
  readonly children: ComponentChildren;
}) {
  const { change, me, decided, children } = props;
  const { id, vaultId, state, approvals, rejections, requiredApprovals, createdAt, createdBy } = change;
  const [fault, setError] = useState<string | null>(null);
  const param = { vaultId: String(vaultId), changeId: id };
  const line = api.vault[':vaultId']['policy-change'][':changeId'];
  const { renewsVersion } = change;
  const { confirm, dialog } = useConfirmation();
  return (
    <article class="proposal">
      <h3>{titleOf(change)}</h3>
      <NoteQuote of={change} />
      {renewsVersion === 1 && (
        <p class="quiet">
          Every device in the first policy signs it. The vault has no address before. Compare the key ID of each device
          with its owner.
        </p>
      )}
      {renewsVersion !== null && renewsVersion > 1 && (
        <p class="quiet">
          Renews the mandate of version {renewsVersion}, which is already adopted. The policy does not change. The
          signers of version {renewsVersion - 1} approve the renewal.
        </p>
      )}
      <p>
        <span class={`state ${state === 'PENDING' ? 'waiting' : ''}`}>{CHANGE_STATES[state]}</span>
        {requiredApprovals === 0
          ? ' A change before the founding, created '
          : ` ${approvals.length} of ${approvalsText(requiredApprovals)}, created `}
        <Time iso={createdAt} />
        {createdBy !== null && (
          <>
            , by <MemberLabel userId={createdBy} />
          </>
        )}
      </p>
      {rejections.length > 0 && (
        <ul class="plain">
          {rejections.map((rejection) => (
            <li key={rejection.userId}>
              <RejectionText rejection={rejection} />
            </li>
          ))}
        </ul>
      )}
      {children}
      {change.actionsForMe.includes('cancel') && (
        <button
          type="button"
          onClick={() =>
            confirm(CANCEL_CHANGE, () => {
              good(line.cancel.$post({ param })).then(decided, (error: unknown) => setError(reasonOf(error)));
            })
          }
        >
          Cancel
        </button>
      )}
      <ErrorText why={fault} />
      {dialog}
      {(change.actionsForMe.includes('approve') || change.actionsForMe.includes('reject')) && (
        <Decision
          name={`${id} ${approvals.length} ${rejections.length}`}
          review={() => reviewOf({ kind: 'policy-change', ...param }, me)}
          level="h4"
          claims={() => null}
          actions={change.actionsForMe}
          approve={async (signature) => {
            await good(line.approve.$post({ param, ...(signature === undefined ? {} : { json: signature }) }));
            decided();
          }}
          reject={async (json) => {
            await good(line.reject.$post({ param, json }));
            decided();
          }}
          task={{ kind: 'policy-change', ...param }}
          rejection={{ kind: 'policy-rejection', ...param }}
          me={me}
        />
      )}
    </article>
  );
}

function titleOf({ renewsVersion, policy: { version } }: Change): string {
  if (renewsVersion === null) return `Change to version ${version}`;
  return renewsVersion === 1 ? 'Founding of the vault' : `Renewal of version ${renewsVersion}`;
}
