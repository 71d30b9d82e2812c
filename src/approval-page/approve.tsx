import { useEffect, useMemo, useState } from 'preact/hooks';
import { attempt, Nothing, reasonOf } from '#approval-page/nothing.tsx';
import type { PageRequest } from '#approval-page/page-request.ts';
import { Facts } from '#approval-page/facts.tsx';
import { passkeysOf, signWithPasskey } from '#approval-page/sign/passkey.ts';
import { ConfirmPins } from '#approval-page/cosigners/confirm-pins.tsx';
import { usePins } from '#approval-page/cosigners/use-pins.ts';
import { EnterAgain, Verdicts } from '#approval-page/cosigners/verdicts.tsx';
import type { VerifiedRequest } from '#review/verified-request.ts';
import { claimedPins, confirm, foundingFault, pinsAfter } from '#approval-page/cosigners/confirm.ts';
import { signedUnder, verifyRequest } from '#review/verified-request.ts';
import { SignButton } from '#approval-page/sign/sign-button.tsx';
import type { Confirmation, Pins } from '#approval-page/cosigners/statement-check.ts';
import type { ApprovalRequest, UnverifiedNote } from '#domain/access/approval-page-message.ts';
import { APPROVAL_PROTOCOL } from '#domain/access/approval-page-message.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { Description } from '#review/describe-intent.ts';

interface RequestedApproval {
  readonly requested: PageRequest;
  readonly request: ApprovalRequest;
}

/**
 * Handles one request: it confirms the co-signers' keys, then their statements, then it signs. A
 * rejection needs neither keys nor statements, because it moves nothing.
 */
export function Approve({ requested, request }: RequestedApproval) {
  // The bytes are read once. The passkey later signs the digest of exactly these bytes.
  const read = useMemo(() => attempt(() => verifyRequest(request, Date.now())), [request]);
  const vaultId = read.ok ? read.value.inForce.vaultId : 0;
  const { pins, confirmed, learn, again } = usePins(requested.dashboard, vaultId);
  if (!read.ok) return <Nothing why={read.why} />;
  const verified = read.value;
  if (isRejection(verified)) {
    return <Signing {...{ requested, request, verified, confirmation: null }} />;
  }
  if (pins === null) {
    const claimed = attempt(() => claimedPins(request, verified));
    if (!claimed.ok) return <Nothing why={claimed.why} />;
    return <ConfirmPins claimed={claimed.value} vaultId={vaultId} confirmed={confirmed} />;
  }
  if (verified.subject.kind === 'founding') {
    const fault = foundingFault(verified, pins);
    if (fault === null) return <Signing {...{ requested, request, verified, confirmation: null }} />;
    return (
      <Nothing why={fault}>
        <EnterAgain again={again} />
      </Nothing>
    );
  }
  const learned = () => learn(pinsAfter(pins, verified));
  return <Confirmed {...{ requested, request, verified, pins, again, learned }} />;
}

function isRejection({ subject }: VerifiedRequest): boolean {
  return subject.kind === 'rejection' || subject.kind === 'transaction-rejection';
}

function Confirmed(
  props: RequestedApproval & {
    readonly verified: VerifiedRequest;
    readonly pins: Pins;
    readonly again: () => void;
    readonly learned: () => void;
  },
) {
  const { requested, request, verified, pins, again, learned } = props;
  const confirmation = useMemo(
    () => confirm(verified, request, { pins, nonce: requested.nonce, nowMs: Date.now() }),
    [verified, pins],
  );
  useEffect(() => {
    if (confirmation.isInForce) learned();
  }, [confirmation]);
  if (confirmation.fault !== null) {
    return (
      <Nothing why={confirmation.fault}>
        <Verdicts confirmation={confirmation} />
        <EnterAgain again={again} />
      </Nothing>
    );
  }
  return <Signing {...{ requested, request, verified, confirmation }} />;
}

function Signing(
  props: RequestedApproval & {
    readonly verified: VerifiedRequest;
    /** Null for a rejection and a founding. */
    readonly confirmation: Confirmation | null;
  },
) {
  const { requested, request, verified, confirmation } = props;
  const { description } = verified;
  const [fault, setFault] = useState<string | null>(null);
  const [isDone, setDone] = useState(false);
  const [named, setNamed] = useState<ReadonlySet<number>>(new Set());
  const isReady = (confirmation?.exceptions ?? []).every(({ cosigner }) => named.has(cosigner));
  const passkeys = passkeysOf(signedUnder(verified), request.userId);
  const sign = async () => {
    setFault(null);
    try {
      const signature = await signWithPasskey(verified.digest, passkeys);
      const { requestId } = request;
      requested.answer({ type: 'conclave/approval/answer', version: APPROVAL_PROTOCOL, requestId, ...signature });
      setDone(true);
    } catch (error) {
      setFault(reasonOf(error));
    }
  };
  if (isDone) return <p role="status">Signed. You can close this window.</p>;
  return (
    <article>
      <h1>{description.title}</h1>
      <Warnings of={description} />
      <Facts facts={description.facts} />
      <p class="quiet">
        This page read these details from the bytes that you sign. SHA-256: <code>{verified.digest}</code>
      </p>
      {confirmation !== null && (
        <section aria-label="Confirmation by the co-signers">
          <h2>Confirmation by the co-signers</h2>
          <Verdicts confirmation={confirmation} />
          <Exceptions {...{ confirmation, named, setNamed }} />
        </section>
      )}
      {passkeys.length === 0 ? (
        <p class="refusal" role="alert">
          The policy contains no passkey of yours for this page. Add one in the dashboard.
        </p>
      ) : (
        <SignButton
          label={isRejection(verified) ? 'Reject with a passkey' : 'Approve with a passkey'}
          {...{ isRejection: isRejection(verified), isReady, sign, requested }}
        >
          <p class="title detail">{description.title}</p>
          <Facts facts={description.essentials} />
          <Warnings of={description} />
        </SignButton>
      )}
      {fault !== null && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
      <FromServer remarks={request.remarks} />
    </article>
  );
}

function Warnings({ of: { warnings } }: { readonly of: Description }) {
  if (warnings.length === 0) return null;
  return (
    <div role="alert" aria-label="Warnings">
      <ul class="warnings">
        {warnings.map((warning) => (
          <li key={warning} class="detail">
            {warning}
          </li>
        ))}
      </ul>
    </div>
  );
}

const EXCEPTIONS = {
  agrees: 'agrees',
  behind: 'has an earlier policy in force',
  disagrees: 'has a different policy in force',
  unknown: 'has not confirmed the policy',
} as const;

/**
 * Shows a box to tick for each co-signer that does not agree. A hostile co-signer must not block
 * the person, and the person must not overlook it.
 */
function Exceptions(props: {
  readonly confirmation: Confirmation;
  readonly named: ReadonlySet<number>;
  readonly setNamed: (named: ReadonlySet<number>) => void;
}) {
  const { confirmation, named, setNamed } = props;
  if (confirmation.exceptions.length === 0) return null;
  const tick = (cosigner: number, isTicked: boolean) =>
    setNamed(new Set([...named, cosigner].filter((one) => one !== cosigner || isTicked)));
  return (
    <fieldset>
      <legend>Not all co-signers agree</legend>
      <p>Before you continue, ask the other signers whether the policy was changed.</p>
      {confirmation.exceptions.map(({ cosigner, says }) => (
        <label key={cosigner} class="exception">
          <input
            type="checkbox"
            checked={named.has(cosigner)}
            onChange={(event) => tick(cosigner, event.currentTarget.checked)}
          />{' '}
          Approve although co-signer {cosigner} {EXCEPTIONS[says]}
        </label>
      ))}
    </fieldset>
  );
}

function FromServer({ remarks }: { readonly remarks: readonly UnverifiedNote[] }) {
  if (remarks.length === 0) return null;
  return (
    <section class="unverified" aria-label="From the server, not verified">
      <h2>From the server, not verified</h2>
      <ul>
        {remarks.map(({ label, text }) => (
          <li key={`${label} ${text}`}>
            {visibleText(label)}: {visibleText(text)}
          </li>
        ))}
      </ul>
    </section>
  );
}
