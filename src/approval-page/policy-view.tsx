import { useEffect, useMemo } from 'preact/hooks';
import { ConfirmPins } from '#approval-page/cosigners/confirm-pins.tsx';
import { Facts } from '#approval-page/facts.tsx';
import { attempt, Nothing } from '#approval-page/nothing.tsx';
import type { PageRequest } from '#approval-page/page-request.ts';
import type { Pins } from '#approval-page/cosigners/statement-check.ts';
import type { ConfirmedPins } from '#approval-page/cosigners/use-pins.ts';
import { usePins } from '#approval-page/cosigners/use-pins.ts';
import { EnterAgain, Verdicts } from '#approval-page/cosigners/verdicts.tsx';
import type { ShownPolicy } from '#review/verified-request.ts';
import { claimedPins, confirm, pinsAfter } from '#approval-page/cosigners/confirm.ts';
import { readPolicyView } from '#review/verified-request.ts';
import type { PolicyViewRequest } from '#domain/access/approval-page-message.ts';
import { describePolicy } from '#review/describe-change.ts';

const TITLE = 'This policy is not proven';

interface RequestedView {
  readonly requested: PageRequest;
  readonly request: PolicyViewRequest;
}

/**
 * Shows the whole policy in force, when co-signers with confirmed keys state it. Otherwise it shows
 * no policy: on this page a person trusts what is shown. Nothing is signed here.
 */
export function PolicyView({ requested, request }: RequestedView) {
  const read = useMemo(
    () =>
      attempt(() => {
        const shown = readPolicyView(request);
        return { shown, claimed: claimedPins(request, shown) };
      }),
    [request],
  );
  const vaultId = read.ok ? read.value.shown.inForce.vaultId : 0;
  const known = usePins(requested.dashboard, vaultId);
  if (!read.ok) return <Nothing title={TITLE} why={read.why} />;
  const { shown, claimed } = read.value;
  if (known.pins === null) return <ConfirmPins claimed={claimed} vaultId={vaultId} confirmed={known.confirmed} />;
  return <Proven {...{ requested, request, shown, known, pins: known.pins }} />;
}

function Proven(
  props: RequestedView & { readonly shown: ShownPolicy; readonly known: ConfirmedPins; readonly pins: Pins },
) {
  const { requested, request, shown, known, pins } = props;
  const confirmation = useMemo(
    () => confirm(shown, request, { pins, nonce: requested.nonce, nowMs: Date.now() }),
    [shown, pins],
  );
  useEffect(() => {
    if (confirmation.isInForce) known.learn(pinsAfter(pins, shown));
  }, [confirmation]);
  if (confirmation.fault !== null) {
    return (
      <Nothing title={TITLE} why={confirmation.fault}>
        <Verdicts confirmation={confirmation} />
        <EnterAgain again={known.again} />
      </Nothing>
    );
  }
  const { title, facts } = describePolicy(shown.inForce, shown.inForceHash);
  return (
    <article>
      <h1>{title}</h1>
      <section aria-label="Confirmation by the co-signers">
        <p>
          {confirmation.verdicts.filter(({ says }) => says === 'agrees').length} of {pins.cosigners.length} co-signers
          state that this policy is in force. {pins.threshold} suffice.
        </p>
        <Verdicts confirmation={confirmation} />
      </section>
      <Facts facts={facts} />
      {requested.way === 'window' && (
        <p>
          <button type="button" onClick={requested.leave}>
            Close
          </button>
        </p>
      )}
    </article>
  );
}
