import { useEffect, useState } from 'preact/hooks';
import { Approve } from '#approval-page/approve.tsx';
import type { PageRequest } from '#approval-page/page-request.ts';
import { requestFromOpener } from '#approval-page/arrival/channel.ts';
import { Enrol } from '#approval-page/enrol.tsx';
import { OtherRequest } from '#approval-page/sign/sign-button.tsx';
import { Nothing, reasonOf } from '#approval-page/nothing.tsx';
import { PolicyView } from '#approval-page/policy-view.tsx';

/**
 * The version of the protocol and of this page. A release that changes what the page shows
 * increases it.
 */
const PAGE_VERSION = '1.6';

/** Waits for the request of a dashboard and shows it, or shows why there is nothing to approve. */
export function ApprovalPage() {
  const [requested, setRequest] = useState<PageRequest | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    requestFromOpener().then(setRequest, (error: unknown) => setFault(reasonOf(error)));
  }, []);
  return (
    <>
      {requested?.replacesUnanswered === true && (
        <div class="refusal" role="alert">
          <OtherRequest />
        </div>
      )}
      {fault === null ? <Content requested={requested} /> : <Nothing why={fault} />}
      {requested?.way === 'redirect' && (
        <p>
          <button type="button" onClick={requested.leave}>
            {requested.request.type === 'conclave/approval/policy-view'
              ? 'Back to the dashboard'
              : 'Back to the dashboard without signing'}
          </button>
        </p>
      )}
      <footer>
        <p>
          Conclave approval page {PAGE_VERSION} at <strong>{location.origin}</strong>
          {requested !== null && (
            <>
              , {requested.way === 'window' ? 'opened by' : 'answering to'} <strong>{requested.dashboard}</strong>
            </>
          )}
        </p>
      </footer>
    </>
  );
}

function Content({ requested }: { readonly requested: PageRequest | null }) {
  if (requested === null) return <p role="status">Waiting for the dashboard…</p>;
  const { request } = requested;
  if (request.type === 'conclave/approval/enrolment') return <Enrol requested={requested} request={request} />;
  if (request.type === 'conclave/approval/policy-view') return <PolicyView requested={requested} request={request} />;
  return <Approve requested={requested} request={request} />;
}
