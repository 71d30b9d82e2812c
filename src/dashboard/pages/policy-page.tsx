import { useEffect, useState } from 'preact/hooks';
import type { InferRequestType, InferResponseType } from 'hono/client';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { firstPages, pageOf } from '#dashboard/lists.ts';
import type { Confirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { AddPasskey } from '#dashboard/pages/add-passkey.tsx';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Renewals } from '#dashboard/pages/renewals.tsx';
import { MissingFounders } from '#dashboard/pages/missing-founders.tsx';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { requestSignature, useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { noteOfPasskey } from '#dashboard/approval/approval-request.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import { ChangeComparison } from '#dashboard/policy/comparison.tsx';
import { useDecisions } from '#dashboard/pending.ts';
import { prepareSentences } from '#dashboard/policy/policy-reader.ts';
import { InForce } from '#dashboard/policy/in-force.tsx';
import { Proposal } from '#dashboard/policy/proposal.tsx';
import { Statements, useStatements } from '#dashboard/pages/statements.tsx';
import { useNumberInAddress } from '#dashboard/shell/navigation.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';

type Line = (typeof api.vault)[':vaultId'];
type PolicyPatch = InferRequestType<Line['policy-change']['$post']>['json'];

/** Ours: 2,000 policy changes. */
const MAX_PAGES_SHOWN = 100;

const REMOVE_DEVICE: Confirmation = {
  heading: 'Remove this device?',
  warning:
    'This proposes a policy change. Once it is adopted, approvals by the device no longer count, and only another ' +
    'policy change adds it again.',
  action: 'Propose removal',
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
  const statements = useStatements(vault.id, loaded.state === 'ready' ? loaded.value.policy.hash : null);
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
            <Statements vaultId={vault.id} statements={statements} me={me} />
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

/** Proposes a new passkey of the approval page. */
async function proposedPasskey(
  origin: string,
  { vaultId, me, way }: { readonly vaultId: string; readonly me: Person; readonly way: ApprovalChannel },
) {
  const answer = await requestSignature(origin, { task: { kind: 'enrolment', vaultId }, me, way });
  if (answer.type !== 'conclave/approval/enrolled') throw new NotSigned('The approval page created no passkey.');
  return answer.device;
}
