import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Person } from '#dashboard/api.ts';
import type { Returned } from '#dashboard/forms/signing-task.ts';
import { redirectWithRequest } from '#dashboard/approval/approval-redirect.ts';
import { complete, requestFor } from '#dashboard/approval/approval-request.ts';
import { announce } from '#dashboard/shell/announcement.tsx';
import { ErrorText, reasonOf } from '#dashboard/shell/loading.tsx';
import { NotSigned } from '#dashboard/approval/not-signed.ts';

/**
 * Reads the answer that the approval page returned by redirect, then shows the page that the person
 * left.
 */
export function ApprovalReturn(props: {
  /** Returns the answer once, so that it cannot be sent twice. */
  readonly take: () => Returned | null;
  /** The banner appears only on the page that it belongs to. */
  readonly path: string;
  readonly me: Person;
  /** The origins of the approval pages. */
  readonly origins: readonly string[];
  readonly children: ComponentChildren;
}) {
  const { take, path, me, origins, children } = props;
  const [returned] = useState(take);
  const [returnPath] = useState(path);
  const [outcome, setOutcome] = useState(startOf(returned));
  useEffect(() => {
    if (outcome.state !== 'busy' || returned === null) return;
    follow(returned, { me, origins }).then(
      (settled) => setOutcome(settled),
      (error: unknown) => setOutcome({ state: 'failed', why: faultOf(error) }),
    );
  }, []);
  useEffect(() => {
    if (outcome.state === 'sent') announce(outcome.text);
  }, [outcome]);
  if (outcome.state === 'busy') {
    return (
      <main id="main">
        <p class="quiet loading">
          {returned?.kind === 'nonce' ? 'Opening the approval page…' : 'Sending the answer from the approval page…'}
        </p>
      </main>
    );
  }
  return (
    <>
      {outcome.state === 'sent' && path === returnPath && <p class="card">{outcome.text}</p>}
      <ErrorText why={outcome.state === 'failed' && path === returnPath ? outcome.why : null} />
      {children}
    </>
  );
}

type Outcome =
  | { readonly state: 'none' }
  | { readonly state: 'busy' }
  | { readonly state: 'sent'; readonly text: string }
  | { readonly state: 'failed'; readonly why: string };

function startOf(returned: Returned | null): Outcome {
  if (returned === null) return { state: 'none' };
  return returned.kind === 'fault' ? { state: 'failed', why: returned.why } : { state: 'busy' };
}

const SENT = {
  transaction: 'Your approval was sent.',
  'policy-change': 'Your approval was sent.',
  'policy-rejection': 'Your rejection was sent.',
  'transaction-rejection': 'Your rejection was sent.',
  enrolment:
    'Your passkey was submitted for approval. It is active when the signers have approved the policy with it: see below.',
} as const;

async function follow(
  returned: Returned,
  { me, origins }: { readonly me: Person; readonly origins: readonly string[] },
): Promise<Outcome> {
  switch (returned.kind) {
    case 'nonce': {
      const { task, nonce, requestId, page } = returned;
      if (!origins.includes(page)) throw new NotSigned('This approval page is no longer in use. Start again.');
      redirectWithRequest(page, await requestFor(task, { nonce, requestId, me }));
      return { state: 'busy' };
    }
    case 'answer':
      await complete(returned.task, returned.answer, me);
      return { state: 'sent', text: SENT[returned.task.kind] };
    case 'fault':
      return { state: 'failed', why: returned.why };
  }
}

function faultOf(error: unknown): string {
  return error instanceof NotSigned ? error.message : reasonOf(error);
}
