import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { CanonicalText } from '#domain/canonical/read-text.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { Challenge, Person } from '#dashboard/api.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { Hash, Time } from '#dashboard/pages/record-fields.tsx';
import type { SignatureBody } from '#dashboard/forms/passkey.ts';
import { bytesOfHex, hexOf, pagesOf } from '#dashboard/forms/passkey.ts';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { requestSignature, useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { PageButtons } from '#dashboard/approval/page-buttons.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { REJECT_CHANGE, REJECT_TRANSACTION } from '#dashboard/forms/rejection.tsx';
import type { PolicyRejectionTask, SigningTask } from '#dashboard/forms/signing-task.ts';
import { signatureIn } from '#dashboard/approval/approval-request.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';

/** The object of an approval, as the API returns it. */
export interface DecisionSubject {
  readonly digest: string;
  /** The canonical bytes as hex. */
  readonly canonical: string;
  /** The domain that the canonical bytes must start with, and the id that they must contain. */
  readonly domain: string;
  readonly id: readonly [field: string, value: string];
  /** Further bytes. A field of `canonical` contains their hash. */
  readonly naming?: { readonly field: string; readonly canonical: string };
}

/** The body of a rejection: a signature where a device must sign, and the reason, if any. */
export type RejectionBody = Partial<SignatureBody> & { readonly reason?: string };

/** The approval mode: a session is sufficient, or a device of the signer must sign. */
export interface PendingDecision {
  readonly approvalMode: Challenge['policy']['approvalMode'];
  /** The devices of the reader. */
  readonly devices: Challenge['devices'];
}

/**
 * Returns the fields of the bytes whose digest is approved. The browser computes the digest from
 * these bytes, so a service that shows one thing and requests a signature of another is detected
 * before the approval. Throws when the digest does not match.
 */
async function textsOf({ digest, canonical, domain, id, naming }: DecisionSubject): Promise<readonly CanonicalText[]> {
  const text = readCanonical(bytesOfHex(canonical));
  const valueOf = (field: string) => text.fields.find(([name]) => name === field)?.[1];
  const fits = (await sha256(canonical)) === digest && text.domain === domain && valueOf(id[0]) === id[1];
  if (!fits) throw new Error('what the service shows is not what it asks for');
  if (naming === undefined) return [text];
  if (valueOf(naming.field) !== (await sha256(naming.canonical))) throw new Error('the service shows something else');
  return [readCanonical(bytesOfHex(naming.canonical)), text];
}

async function sha256(hex: string): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOfHex(hex))));
}

/** Shows the object of an approval, read from its own bytes, and sends the decision. */
export function Decision(props: {
  readonly subject: () => Promise<{
    readonly subject: DecisionSubject;
    readonly pending: PendingDecision;
    /** What a rejection needs, where it differs from an approval. */
    readonly rejecting?: PendingDecision;
  }>;
  readonly actions: readonly string[];
  readonly approve: (signature: SignatureBody | undefined) => Promise<unknown>;
  readonly reject: (body: RejectionBody) => Promise<unknown>;
  /** The task for the approval page. */
  readonly task: SigningTask;
  /** The same for a rejection in device mode. Absent where a session always suffices to reject. */
  readonly rejection?: PolicyRejectionTask;
  readonly me: Person;
  /** Renders the bytes in words. Without it the page shows the fields. */
  readonly summary?: (texts: readonly CanonicalText[]) => ComponentChildren;
  readonly name: string;
}) {
  const { actions, approve, reject, rejection, me, summary, name } = props;
  const { loaded, reload } = useLoaded(name, async () => {
    const { subject, pending, rejecting = pending } = await props.subject();
    return { subject, pending, rejecting, texts: await textsOf(subject) };
  });
  const heading = `decision-${name.replace(/[^A-Za-z0-9]/g, '-')}`;
  const origins = useApprovalOrigins();
  const [isSending, send] = useState(false);
  const [fault, setError] = useState<string | null>(null);
  const { confirm, dialog } = useConfirmation();
  const confirmRejection = (rejectFor: (reason: { readonly reason?: string }) => Promise<unknown>) =>
    confirm(rejection === undefined ? REJECT_TRANSACTION : REJECT_CHANGE, (reason) =>
      decide(() => rejectFor(reason === undefined ? {} : { reason })),
    );
  const rejectBySession = () => confirmRejection(reject);
  const decide = (said: () => Promise<unknown>) => {
    send(true);
    setError(null);
    said()
      .catch((error: unknown) => setError(faultOf(error)))
      .finally(() => send(false));
  };
  return (
    <section class="card" aria-labelledby={heading}>
      <h2 id={heading}>Review and approve</h2>
      <LoadedContent loaded={loaded} what="what you approve" again={reload}>
        {({ subject, pending, rejecting, texts }) => (
          <>
            {summary === undefined ? (
              <Fields texts={texts} digest={subject.digest} />
            ) : (
              <>
                {summary(texts)}
                <details>
                  <summary>Technical details</summary>
                  <Fields texts={texts} digest={subject.digest} />
                </details>
              </>
            )}
            {actions.includes('approve') && (
              <Yes
                pending={pending}
                isSending={isSending}
                origins={origins}
                page={(page, way) => decide(async () => approve(await signedByPage(page, { ...props, way })))}
                session={() => decide(() => approve(undefined))}
              />
            )}
            {actions.includes('reject') && rejection !== undefined && (
              <No
                pending={rejecting}
                isSending={isSending}
                origins={origins}
                page={(page, way) =>
                  confirmRejection(async (reason) => {
                    const task = { ...rejection, ...reason };
                    return reject({ ...(await signedByPage(page, { task, me, way })), ...reason });
                  })
                }
                session={rejectBySession}
              />
            )}
          </>
        )}
      </LoadedContent>
      {actions.includes('reject') && rejection === undefined && (
        <RejectButton isSending={isSending} reject={rejectBySession} />
      )}
      <ErrorText why={fault} />
      {dialog}
    </section>
  );
}

/** Shows the fields of the bytes under their own names. */
function Fields({ texts, digest }: { readonly texts: readonly CanonicalText[]; readonly digest: string }) {
  return (
    <>
      {texts.map(({ domain, fields }) => (
        <dl class="facts" key={domain}>
          {fields.map(([field, value]) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                {value === null ? <span class="quiet">none</span> : <code class="as-typed">{value}</code>}{' '}
                {value !== null && field.endsWith('AtMs') && timeOf(value)}
              </dd>
            </div>
          ))}
        </dl>
      ))}
      <p class="quiet">
        Verified in this browser: matches the data that you sign (digest <Hash value={digest} />)
      </p>
    </>
  );
}

function faultOf(error: unknown): string {
  return error instanceof NotSigned ? error.message : reasonOf(error);
}

/** Returns the signature of the approval page. */
async function signedByPage(
  origin: string,
  { task, me, way }: { readonly task: SigningTask; readonly me: Person; readonly way: ApprovalChannel },
): Promise<SignatureBody> {
  return signatureIn(await requestSignature(origin, { task, me, way }));
}

interface SignedDecision {
  readonly pending: PendingDecision;
  readonly isSending: boolean;
  /** The origins of the approval pages, the preferred one first. */
  readonly origins: readonly string[];
  readonly page: (page: string, way: ApprovalChannel) => void;
  readonly session: () => void;
}

function Yes(props: SignedDecision) {
  const { pending, isSending, origins, page, session } = props;
  if (pending.approvalMode === 'token') {
    return (
      <button type="button" class="yes" disabled={isSending} onClick={session}>
        Approve
      </button>
    );
  }
  const [preferred, ...others] = pagesOf(pending.devices, origins);
  if (preferred !== undefined) {
    return (
      <>
        <p class="quiet">
          This is a preview. The approval page at {preferred} reads the bytes itself: compare what it shows, and sign
          there.
        </p>
        <PageButtons
          page={preferred}
          label="Approve on the approval page"
          labelOfTab="Go there in this tab"
          kind="yes"
          isSending={isSending}
          open={page}
        />
        <OtherPages others={others} isSending={isSending} verb="Approve" page={page} />
      </>
    );
  }
  return (
    <p>
      You need a device key to approve here.{' '}
      {origins.length === 0
        ? 'This service has no approval page, so passkeys cannot be used.'
        : 'Add a passkey on the policy page.'}{' '}
      With an Ed25519 key, use <code>npm run conclave -- device approve</code>.
    </p>
  );
}

/** Shows the rejection of a policy change, which a device signs in device mode. */
function No({ pending, isSending, origins, page, session }: SignedDecision) {
  if (pending.approvalMode === 'token') return <RejectButton isSending={isSending} reject={session} />;
  const [preferred, ...others] = pagesOf(pending.devices, origins);
  if (preferred !== undefined) {
    return (
      <>
        <p class="apart">
          <PageButtons
            page={preferred}
            label="Reject on the approval page"
            labelOfTab="Reject in this tab"
            kind="no"
            isSending={isSending}
            open={page}
          />
        </p>
        <OtherPages others={others} isSending={isSending} verb="Reject" page={page} />
      </>
    );
  }
  return (
    <p>
      You need a device key to reject this policy change. With an Ed25519 key, use{' '}
      <code>npm run conclave -- device reject-policy</code>.
    </p>
  );
}

/** Offers the further approval pages of a person, for when the preferred one does not answer. */
function OtherPages(props: {
  readonly others: readonly string[];
  readonly isSending: boolean;
  readonly verb: 'Approve' | 'Reject';
  readonly page: SignedDecision['page'];
}) {
  const { others, isSending, verb, page } = props;
  return (
    <>
      {others.map((other) => (
        <p key={other}>
          You have a passkey of another approval page as well.{' '}
          <button type="button" disabled={isSending} onClick={() => page(other, 'window')}>
            {verb} at {new URL(other).host}
          </button>
        </p>
      ))}
    </>
  );
}

function RejectButton({ isSending, reject }: { readonly isSending: boolean; readonly reject: () => void }) {
  return (
    <p class="apart">
      <button type="button" class="no" disabled={isSending} onClick={reject}>
        Reject
      </button>
    </p>
  );
}

function timeOf(ms: string) {
  return <Time iso={new Date(Number.parseInt(ms, 10)).toISOString()} />;
}
