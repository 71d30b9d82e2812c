import { useState } from 'preact/hooks';
import { Nothing, reasonOf } from '#approval-page/nothing.tsx';
import type { PageRequest } from '#approval-page/page-request.ts';
import { newPasskey } from '#approval-page/sign/passkey.ts';
import { SignButton } from '#approval-page/sign/sign-button.tsx';
import type { EnrolmentAnswer, EnrolmentRequest } from '#domain/access/approval-page-message.ts';
import { APPROVAL_PROTOCOL } from '#domain/access/approval-page-message.ts';
import { parseUserId } from '#domain/id.ts';
import { visibleText } from '#domain/visible-text.ts';

/**
 * Creates a new passkey of this page. The passkey is valid only after a quorum has adopted a policy
 * with it.
 */
export function Enrol({ requested, request }: { readonly requested: PageRequest; readonly request: EnrolmentRequest }) {
  const { requestId, userId, userName, credentialIds } = request;
  const [fault, setFault] = useState<string | null>(null);
  const [done, setDone] = useState<EnrolmentAnswer | null>(null);
  if (parseUserId(userId) === null) return <Nothing why="The request contains no valid user ID." />;
  const create = async () => {
    setFault(null);
    try {
      const device = await newPasskey({ userId, userName: visibleText(userName), credentialIds });
      const answer = { type: 'conclave/approval/enrolled', version: APPROVAL_PROTOCOL, requestId, device } as const;
      // A redirect leaves this page, and the person must see the key first.
      if (requested.way === 'window') requested.answer(answer);
      setDone(answer);
    } catch (error) {
      setFault(reasonOf(error));
    }
  };
  if (done !== null) {
    return (
      <article>
        <h1>Passkey created</h1>
        <p role="status">The other signers must approve the policy change that adds this key:</p>
        <pre>{done.device.publicKey}</pre>
        <p>
          {requested.way === 'window' ? (
            <button type="button" onClick={requested.leave}>
              Close
            </button>
          ) : (
            <button type="button" class="yes" onClick={() => requested.answer(done)}>
              Send to the dashboard
            </button>
          )}
        </p>
      </article>
    );
  }
  return (
    <article>
      <h1>Create a passkey for approvals</h1>
      <SignButton label="Create a passkey" sign={create} requested={requested}>
        <p class="detail">
          The passkey belongs to <strong>{location.hostname}</strong> and signs only on this page. It signs approvals of
          the user <code>{userId}</code>. The server names this user “{visibleText(userName)}”.
        </p>
      </SignButton>
      {fault !== null && (
        <p class="refusal" role="alert">
          {fault}
        </p>
      )}
    </article>
  );
}
