import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Challenge, Person } from '#dashboard/api.ts';
import { Contradiction } from '#dashboard/decision/contradiction.ts';
import { RedStop } from '#dashboard/decision/red-stop.tsx';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';
import type { SignatureBody } from '#dashboard/forms/passkey.ts';
import { pagesOf } from '#dashboard/forms/passkey.ts';
import type { ApprovalChannel } from '#dashboard/approval/approval-channel.ts';
import { requestSignature, useApprovalOrigins } from '#dashboard/approval/approval-channel.ts';
import { PageButtons } from '#dashboard/approval/page-buttons.tsx';
import { useConfirmation } from '#dashboard/forms/confirm-dialog.tsx';
import { PageHeading } from '#dashboard/shell/page-heading.tsx';
import { REJECTIONS } from '#dashboard/decision/rejection.tsx';
import { ReviewFacts, ReviewWarnings } from '#dashboard/decision/review-facts.tsx';
import type { Review } from '#dashboard/decision/review.ts';
import type { PolicyRejectionTask, SigningTask, TransactionRejectionTask } from '#dashboard/forms/signing-task.ts';
import { signatureIn } from '#dashboard/approval/approval-request.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';

/** The body of a rejection: a signature where a device must sign, and the reason, if any. */
export type RejectionBody = Partial<SignatureBody> & { readonly reason?: string };

/** The approval mode: a session is sufficient, or a device of the signer must sign. */
interface PendingDecision {
  readonly approvalMode: Challenge['policy']['approvalMode'];
  /** The origin of each device of the reader; null for a device without one. */
  readonly devices: readonly { readonly origin: string | null }[];
}

/**
 * The contradictions that this document detected, by the task that they are about. None is removed:
 * the truth after a lie would offer the approval again, and the service chooses when it answers
 * truly.
 */
const DETECTED = new Map<string, Contradiction>();

async function detecting(task: SigningTask, review: () => Promise<Review>): Promise<Review> {
  try {
    return await review();
  } catch (error) {
    if (error instanceof Contradiction) DETECTED.set(JSON.stringify(task), error);
    throw error;
  }
}

/**
 * Shows what an approval does, read from its own bytes, and sends the decision. The words are those
 * of the approval page.
 */
export function Decision(props: {
  /** Names what is shown beside the decision. When it changes, it is compared with the bytes. */
  readonly name: string;
  readonly review: () => Promise<Review>;
  readonly actions: readonly string[];
  readonly approve: (signature: SignatureBody | undefined) => Promise<unknown>;
  readonly reject: (body: RejectionBody) => Promise<unknown>;
  /** The task for the approval page. */
  readonly task: SigningTask;
  /** The same for a rejection in device mode. */
  readonly rejection: PolicyRejectionTask | TransactionRejectionTask;
  readonly me: Person;
  /** The sentence is the heading of the page, or of one part of it. */
  readonly level: 'h1' | 'h4';
  /** The rule of the policy in force that forbids it, in words; null without one. */
  readonly forbiddenBy?: string | null;
  /** What the service claims about it, such as its author. */
  readonly claims: (review: Review) => ComponentChildren;
}) {
  const { actions, approve, reject, rejection, me, name, level, forbiddenBy = null, claims } = props;
  const { loaded, reload } = useLoaded(`decision ${name}`, () => detecting(props.task, props.review), {
    isForForm: true,
  });
  const origins = useApprovalOrigins();
  const [isSending, send] = useState(false);
  const [fault, setError] = useState<string | null>(null);
  const { confirm, dialog } = useConfirmation();
  const confirmRejection = (rejectFor: (reason: { readonly reason?: string }) => Promise<unknown>) =>
    confirm(REJECTIONS[rejection.kind], (reason) => decide(() => rejectFor(reason === undefined ? {} : { reason })));
  const rejectBySession = () => confirmRejection(reject);
  const decide = (act: () => Promise<unknown>) => {
    send(true);
    setError(null);
    act()
      .catch((error: unknown) => setError(faultOf(error)))
      .finally(() => send(false));
  };
  const contradiction = DETECTED.get(JSON.stringify(props.task));
  if (contradiction !== undefined) {
    return (
      <section class="card" aria-label="Review and approve">
        {level === 'h1' && <PageHeading>Transaction to decide</PageHeading>}
        <RedStop why={contradiction.message} />
      </section>
    );
  }
  return (
    <section class="card" aria-label="Review and approve">
      {level === 'h1' && loaded.state !== 'ready' && <PageHeading>Transaction to decide</PageHeading>}
      <LoadedContent loaded={loaded} what="what you approve" again={reload}>
        {(review) => (
          <>
            {level === 'h1' ? (
              <PageHeading>{review.description.title}</PageHeading>
            ) : (
              <h4>{review.description.title}</h4>
            )}
            <ReviewWarnings warnings={review.description.warnings} />
            <ReviewFacts facts={shortFactsOf(review)} />
            {claims(review)}
            {forbiddenBy !== null && (
              <p class="problem" role="alert">
                The policy in force forbids this, so it cannot be approved: {forbiddenBy}
              </p>
            )}
            <div class="actions">
              {actions.includes('approve') && forbiddenBy === null && (
                <Yes
                  pending={pendingOf(review, me)}
                  isSending={isSending}
                  origins={origins}
                  page={(page, way) => decide(async () => approve(await signedByPage(page, { ...props, way })))}
                  session={() => decide(() => approve(undefined))}
                />
              )}
              {actions.includes('reject') && (
                <No
                  pending={pendingUnder(review.inForce, me)}
                  isSending={isSending}
                  origins={origins}
                  page={(page, way) =>
                    confirmRejection(async (reason) => {
                      const task = { ...rejection, ...reason };
                      return reject({ ...(await signedByPage(page, { task, me, way })), ...reason });
                    })
                  }
                  session={rejectBySession}
                  command={rejection.kind === 'policy-rejection' ? 'reject-policy' : 'reject'}
                />
              )}
            </div>
            {review.subject.kind === 'intent' && (
              <details>
                <summary>Everything that an approval binds</summary>
                <ReviewFacts facts={review.description.facts} />
              </details>
            )}
            <p class="quiet">
              Read in this browser from the bytes that are approved. SHA-256: <Hash value={review.digest} />
            </p>
          </>
        )}
      </LoadedContent>
      {actions.includes('reject') && loaded.state === 'failed' && (
        <RejectButton isSending={isSending} reject={rejectBySession} />
      )}
      <ErrorText why={fault} />
      {dialog}
    </section>
  );
}

/**
 * Returns what is shown at once: the difference of a policy, or the essentials of a transaction.
 */
function shortFactsOf({ subject, description }: Review) {
  return subject.kind === 'intent' ? description.essentials : description.facts;
}

/**
 * Returns what an approval needs. The devices of a founding approve it where none count before
 * (`beginsDeviceMode`).
 */
function pendingOf({ subject, inForce }: Review, me: Person): PendingDecision {
  return pendingUnder(subject.kind === 'founding' ? subject.proposed : inForce, me);
}

function pendingUnder({ approvalMode, devices }: Review['inForce'], me: Person): PendingDecision {
  const own = devices.filter(({ userId }) => userId === me.id);
  return { approvalMode, devices: own.map((device) => ({ origin: 'origin' in device ? device.origin : null })) };
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
      With an Ed25519 key, use <code>node cli/conclave.ts device approve</code>.
    </p>
  );
}

/** Shows the rejection, which a device signs in device mode. */
function No({ pending, isSending, origins, page, session, command }: SignedDecision & { readonly command: string }) {
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
      You need a device key to reject this. With an Ed25519 key, use <code>node cli/conclave.ts device {command}</code>.
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
