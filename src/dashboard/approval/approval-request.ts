import type { Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { SigningTask } from '#dashboard/forms/signing-task.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type {
  ApprovalAnswer,
  ApprovalRequest,
  EnrolmentAnswer,
  EnrolmentRequest,
} from '#domain/access/approval-page-message.ts';
import { APPROVAL_PROTOCOL } from '#domain/access/approval-page-message.ts';

/** Who asks, and what the answer is bound to. */
interface Asking {
  /** Chosen by the approval page: the statements of the co-signers name it. */
  readonly nonce: string;
  readonly requestId: string;
  readonly me: Person;
}

/** What the approval page is asked. */
export function requestFor(errand: SigningTask, asking: Asking): Promise<ApprovalRequest | EnrolmentRequest> {
  switch (errand.kind) {
    case 'transaction':
      return transactionRequest(errand.txId, asking);
    case 'policy-change':
      return changeRequest(errand, asking);
    case 'enrolment':
      return Promise.resolve(enrolmentRequest(asking));
  }
}

/** Sends what the approval page has answered. Throws `NotSigned` for an answer to another errand. */
export async function complete(
  errand: SigningTask,
  answer: ApprovalAnswer | EnrolmentAnswer,
  me: Person,
): Promise<unknown> {
  switch (errand.kind) {
    case 'transaction':
      return good(api.transaction[':txId'].approve.$post({ param: { txId: errand.txId }, json: signatureIn(answer) }));
    case 'policy-change': {
      const { vaultId, changeId } = errand;
      const line = api.vault[':vaultId']['policy-change'][':changeId'];
      return good(line.approve.$post({ param: { vaultId, changeId }, json: signatureIn(answer) }));
    }
    case 'enrolment': {
      if (answer.type !== 'conclave/approval/enrolled') throw new NotSigned('The approval page made no passkey.');
      const json = { addDevices: [answer.device], note: noteOfPasskey(me) };
      return good(api.vault[':vaultId']['policy-change'].$post({ param: { vaultId: errand.vaultId }, json }));
    }
  }
}

export function noteOfPasskey(me: Person): string {
  return `A passkey of ${me.name}’s`;
}

/** The signature in an answer, as the API takes it. */
export function signatureIn(answer: ApprovalAnswer | EnrolmentAnswer) {
  if (answer.type !== 'conclave/approval/answer') throw new NotSigned('The approval page answered something else.');
  const { keyId, signature, authenticatorData, clientDataJSON } = answer;
  return { keyId, signature, authenticatorData, clientDataJSON };
}

async function transactionRequest(txId: string, { nonce, requestId, me }: Asking): Promise<ApprovalRequest> {
  const param = { txId };
  const [asked, { createdBy }] = await Promise.all([
    good(api.transaction[':txId'].challenge.$get({ param, query: { nonce } })),
    good(api.transaction[':txId'].$get({ param })),
  ]);
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical: asked.canonical,
    policy: asked.policy.canonical,
    proposed: null,
    keyIds: asked.keys.map(({ keyId }) => keyId),
    statements: (asked.statements ?? []).map(({ cosigner, keyId, statement }) => ({ cosigner, keyId, statement })),
    cosigners: [],
    remarks: createdBy === null ? [] : [{ label: 'Created by', text: createdBy }],
  };
}

async function changeRequest(
  { vaultId, changeId }: Extract<SigningTask, { kind: 'policy-change' }>,
  { nonce, requestId, me }: Asking,
): Promise<ApprovalRequest> {
  const line = api.vault[':vaultId']['policy-change'][':changeId'];
  const asked = await good(line.$get({ param: { vaultId, changeId }, query: { nonce } }));
  const { canonical, decidedBy, keys, statements, createdBy } = asked;
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical,
    // The policy in force, or for a renewal the one before that version: its quorum approves.
    policy: decidedBy.canonical,
    proposed: asked.policy.canonical,
    keyIds: keys.map(({ keyId }) => keyId),
    statements: (statements ?? []).map(({ cosigner, keyId, statement }) => ({ cosigner, keyId, statement })),
    // A first policy without keys gets them by this change: the person confirms them before.
    cosigners: asked.policy.cosigners ?? [],
    remarks: createdBy === null ? [] : [{ label: 'Proposed by', text: createdBy }],
  };
}

function enrolmentRequest({ requestId, me }: Asking): EnrolmentRequest {
  const [userId, userName] = [me.id, me.name];
  return { type: 'conclave/approval/enrolment', version: APPROVAL_PROTOCOL, requestId, userId, userName };
}
