import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Approve } from '#approval-page/approve.tsx';
import { InvalidRequest } from '#approval-page/read/canonical-cursor.ts';
import type { PageRequest } from '#approval-page/page-request.ts';
import { requestFromOpener } from '#approval-page/channel.ts';
import { Enrol } from '#approval-page/enrol.tsx';

/** The protocol and this page's own version: a release that changes what it shows counts it up. */
const PAGE_VERSION = '1.1';

/** Waits for a dashboard and shows what it asks, or why there is nothing to approve. */
export function ApprovalPage() {
  const [requested, setRequest] = useState<PageRequest | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    requestFromOpener().then(setRequest, (error: unknown) => setFault(reasonOf(error)));
  }, []);
  return (
    <>
      {fault === null ? <Content requested={requested} /> : <Nothing why={fault} />}
      {requested?.way === 'redirect' && (
        <p>
          <button type="button" onClick={requested.leave}>
            Back to the dashboard without signing
          </button>
        </p>
      )}
      <footer>
        <p>
          Conclave approval page {PAGE_VERSION} at <strong>{location.origin}</strong>
          {requested !== null && (
            <>
              , {requested.way === 'window' ? 'opened by' : 'answers'} <strong>{requested.dashboard}</strong>
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
  return <Approve requested={requested} request={request} />;
}

/** There is nothing to approve, and why. */
export function Nothing({ why, children }: { readonly why: string; readonly children?: ComponentChildren }) {
  return (
    <section class="refusal" role="alert">
      <h1>Nothing to approve</h1>
      <p>{why}</p>
      {children}
    </section>
  );
}

export function reasonOf(error: unknown): string {
  if (error instanceof InvalidRequest) return error.message;
  return error instanceof DOMException ? 'The passkey did not sign.' : 'This page could not read the request.';
}
