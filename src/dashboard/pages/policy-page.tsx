import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InferRequestType, InferResponseType } from 'hono/client';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { firstPages, pageOf } from '#dashboard/lists.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { NoteQuote } from '#dashboard/decision/claims.tsx';
import { Decision } from '#dashboard/decision/decision.tsx';
import { reviewOf } from '#dashboard/decision/review.ts';
import { RejectionText } from '#dashboard/decision/rejection.tsx';
import { AddPasskey } from '#dashboard/pages/add-passkey.tsx';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Time } from '#dashboard/pages/record-fields.tsx';
import { Renewals } from '#dashboard/pages/renewals.tsx';
import { MissingFounders } from '#dashboard/pages/missing-founders.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { requestSignature, useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { noteOfPasskey } from '#dashboard/approval/approval-request.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import { ChangeComparison } from '#dashboard/policy/comparison.tsx';
import { useDecisions } from '#dashboard/pending.ts';
import { prepareSentences } from '#dashboard/policy/policy-reader.ts';
import { InForce } from '#dashboard/policy/in-force.tsx';
import { Statements } from '#dashboard/pages/statements.tsx';
import { useNumberInAddress } from '#dashboard/shell/navigation.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { approvalsText } from '#dashboard/text.ts';

type Line = (typeof api.vault)[':vaultId'];
type PolicyPatch = InferRequestType<Line['policy-change']['$post']>['json'];
type Change = InferResponseType<Line['policy-change']['$get']>['policyChanges'][number];

/** Ours: 2,000 policy changes. */
const MAX_PAGES_SHOWN = 100;

const CHANGE_STATES = {
  PENDING: 'Pending approval',
  ADOPTED: 'Adopted',
  REJECTED: 'Rejected',
  CANCELLED: 'Cancelled',
  EXPIRED: 'Expired',
  SUPERSEDED: 'Superseded',
} as const satisfies Readonly<Record<Change['state'], string>>;

const REMOVE_DEVICE: Confirmation = {
  heading: 'Remove this device?',
  warning:
    'This proposes a policy change. Once it is adopted, approvals by the device no longer count, and only another ' +
    'policy change adds it again.',
  action: 'Propose removal',
};

const CANCEL_CHANGE: Confirmation = {
  heading: 'Cancel this policy change?',
  warning: 'It ends permanently. A new proposal needs all approvals again.',
  action: 'Cancel policy change',
};

/** Shows the policy of a vault, the devices of its members, and the proposed policy changes. */
export function PolicyPage({ vault, me }: { readonly vault: OwnVault; readonly me: Person }) {
  useTitle(`Policy · ${vault.name}`);
  useEffect(prepareSentences, []);
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  const [pages, showPages] = useNumberInAddress('pages', MAX_PAGES_SHOWN);
  const readChanges = (query: object) => line['policy-change'].$get({ param, query });
  const { loaded, reload, change } = useLoaded(`policy ${vault.id}`, async () => {
    const [{ policy, renewalsNeeded, founding }, changes] = await Promise.all([
      good(line.policy.$get({ param, query: {} })),
      firstPages<ChangePage>(readChanges, pages),
    ]);
    return { policy, renewalsNeeded, founding, changes: changes.reduce(joined) };
  });
  useDecisions(reload);
  const origins = useApprovalOrigins();
  const [fault, setError] = useState<string | null>(null);
  const propose = (patch: () => Promise<PolicyPatch>) => {
    setError(null);
    patch()
      .then((json) => good(line['policy-change'].$post({ param, json })))
      .then(reload, (error: unknown) => setError(error instanceof NotSigned ? error.message : reasonOf(error)));
  };
  const renew = (version: number) => {
    setError(null);
    const renewal = line.policy[':version'].renewal;
    good(renewal.$post({ param: { ...param, version: String(version) }, json: {} })).then(reload, (error: unknown) =>
      setError(reasonOf(error)),
    );
  };
  const isSigner = vault.roles.includes('signer');
  const mayPropose = isSigner || vault.roles.includes('admin');
  const enrol = (page: string, way: ApprovalChannel) =>
    propose(async () => ({
      addDevices: [await proposedPasskey(page, { vaultId: param.vaultId, me, way })],
      note: noteOfPasskey(me),
    }));
  const { confirm, dialog } = useConfirmation();
  const remove = (keyId: string) =>
    confirm(REMOVE_DEVICE, () =>
      propose(async () => ({ removeDevices: [keyId], note: `Remove device ${keyId.slice(0, 8)}…` })),
    );
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}`}>{vault.name}</a>
      </p>
      <PageHeading>Policy</PageHeading>
      {dialog}
      <LoadedContent loaded={loaded} what="the policy" again={reload}>
        {({ policy, renewalsNeeded, founding, changes: { policyChanges, nextCursor } }) => (
          <>
            {founding !== null && <MissingFounders founding={founding} renew={mayPropose ? renew : null} />}
            <InForce policy={policy} members={vault.members} remove={isSigner ? remove : null} />
            <Statements vaultId={vault.id} policy={policy} me={me} />
            <Renewals needed={renewalsNeeded} changes={policyChanges} renew={mayPropose ? renew : null} />
            <p class="doors">
              {isSigner && <AddPasskey origins={origins} enrol={enrol} />}
              {mayPropose && (
                <a class="button" href={`#/vault/${vault.id}/rules`}>
                  Edit policy
                </a>
              )}
            </p>
            <ErrorText why={fault} />
            <section aria-labelledby="changes">
              <h2 id="changes">Policy changes</h2>
              {policyChanges.length === 0 && <p class="quiet">No policy changes.</p>}
              {policyChanges.map((one) => (
                <Proposal key={one.id} change={one} me={me} decided={reload}>
                  {one.state === 'PENDING' && one.renewsVersion === null && (
                    <ChangeComparison vaultId={vault.id} changeId={one.id} />
                  )}
                </Proposal>
              ))}
              {nextCursor !== null && (
                <button
                  type="button"
                  onClick={() => {
                    pageOf<ChangePage>(readChanges, nextCursor).then(
                      (older) => {
                        change((seen) => ({ ...seen, changes: joined(seen.changes, older) }));
                        showPages(pages + 1);
                        return older;
                      },
                      (error: unknown) => setError(reasonOf(error)),
                    );
                  }}
                >
                  Load older changes
                </button>
              )}
            </section>
          </>
        )}
      </LoadedContent>
    </main>
  );
}

type ChangePage = InferResponseType<Line['policy-change']['$get']>;

function joined(newer: ChangePage, older: ChangePage): ChangePage {
  return { ...older, policyChanges: [...newer.policyChanges, ...older.policyChanges] };
}

function titleOf({ renewsVersion, policy: { version } }: Change): string {
  if (renewsVersion === null) return `Change to version ${version}`;
  return renewsVersion === 1 ? 'Founding of the vault' : `Renewal of version ${renewsVersion}`;
}

/** Proposes a new passkey of the approval page. */
async function proposedPasskey(
  origin: string,
  { vaultId, me, way }: { readonly vaultId: string; readonly me: Person; readonly way: ApprovalChannel },
) {
  const answer = await requestSignature(origin, { task: { kind: 'enrolment', vaultId }, me, way });
  if (answer.type !== 'conclave/approval/enrolled') throw new NotSigned('The approval page created no passkey.');
  return answer.device;
}

function Proposal(props: {
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
