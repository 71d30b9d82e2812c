import type { Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import type { SignedTask, SigningTask } from '#dashboard/forms/signing-task.ts';
import { RECIPIENT_HISTORY, recipientHistoryText } from '#dashboard/approval/recipient-history.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type {
  ApprovalAnswer,
  ApprovalRequest,
  DashboardRequest,
  EnrolmentAnswer,
  EnrolmentRequest,
  PolicyViewRequest,
  RelayedStatement,
} from '#domain/access/approval-page-message.ts';
import { APPROVAL_PROTOCOL } from '#domain/access/approval-page-message.ts';

/** The member who requests the signature, and the nonce that binds the answer. */
interface StatementContext {
  /**
   * The approval page chooses the nonce. The statements of the co-signers must contain it. Null for
   * a preview, which has no statements.
   */
  readonly nonce: string | null;
  readonly requestId: string;
  readonly me: Person;
}

type ChangeTask = Pick<Extract<SigningTask, { readonly changeId: string }>, 'vaultId' | 'changeId'>;

/** The approval page needs no statements for a rejection. */
const WITHOUT_STATEMENTS = { keys: [], statements: [], cosigners: [] } as const;

/** Returns the request for the approval page. */
export function requestFor(task: SigningTask, context: StatementContext): Promise<DashboardRequest> {
  switch (task.kind) {
    case 'transaction':
      return transactionRequest(task.txId, context);
    case 'transaction-rejection':
      return transactionRejectionRequest(task.txId, context);
    case 'policy-change':
      return changeRequest(task, context);
    case 'policy-rejection':
      return rejectionRequest(task, context);
    case 'enrolment':
      return enrolmentRequest(task, context);
    case 'policy-view':
      return policyViewRequest(task, context);
  }
}

/**
 * Sends the answer of the approval page to the API. Throws `NotSigned` when the answer belongs to
 * another request.
 */
export async function complete(
  task: SignedTask,
  answer: ApprovalAnswer | EnrolmentAnswer,
  me: Person,
): Promise<unknown> {
  switch (task.kind) {
    case 'transaction':
      return good(api.transaction[':txId'].approve.$post({ param: { txId: task.txId }, json: signatureIn(answer) }));
    case 'transaction-rejection': {
      const { txId, reason } = task;
      const json = { ...signatureIn(answer), ...(reason === undefined ? {} : { reason }) };
      return good(api.transaction[':txId'].reject.$post({ param: { txId }, json }));
    }
    case 'policy-change': {
      const { vaultId, changeId } = task;
      const line = api.vault[':vaultId']['policy-change'][':changeId'];
      return good(line.approve.$post({ param: { vaultId, changeId }, json: signatureIn(answer) }));
    }
    case 'policy-rejection': {
      const { vaultId, changeId, reason } = task;
      const line = api.vault[':vaultId']['policy-change'][':changeId'];
      const json = { ...signatureIn(answer), ...(reason === undefined ? {} : { reason }) };
      return good(line.reject.$post({ param: { vaultId, changeId }, json }));
    }
    case 'enrolment': {
      if (answer.type !== 'conclave/approval/enrolled') throw new NotSigned('The approval page created no passkey.');
      const json = { addDevices: [answer.device], note: noteOfPasskey(me) };
      return good(api.vault[':vaultId']['policy-change'].$post({ param: { vaultId: task.vaultId }, json }));
    }
  }
}

export function noteOfPasskey(me: Person): string {
  return `Add a passkey of ${me.name}`;
}

/** Returns the signature of an answer in the form of the API. */
export function signatureIn(answer: ApprovalAnswer | EnrolmentAnswer) {
  if (answer.type !== 'conclave/approval/answer')
    throw new NotSigned('The approval page returned an unexpected answer.');
  const { keyId, signature, authenticatorData, clientDataJSON } = answer;
  return { keyId, signature, authenticatorData, clientDataJSON };
}

async function transactionRequest(txId: string, { nonce, requestId, me }: StatementContext): Promise<ApprovalRequest> {
  const param = { txId };
  const [answer, createdBy] = await Promise.all([
    good(api.transaction[':txId'].challenge.$get({ param, query: queryOf(nonce) })),
    // A preview stands beside the record, which names the author.
    nonce === null ? null : good(api.transaction[':txId'].$get({ param })).then((record) => record.createdBy),
  ]);
  const history = recipientHistoryText(answer);
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical: answer.canonical,
    policy: answer.policy.canonical,
    proposed: null,
    mandate: null,
    keys: answer.keys,
    statements: relayed(answer.statements),
    cosigners: [],
    remarks: [
      ...(createdBy === null ? [] : [{ label: 'Created by', text: createdBy }]),
      ...(history === null ? [] : [{ label: RECIPIENT_HISTORY, text: history }]),
    ],
  };
}

/** Returns the request to reject a transaction. The approval page needs no statements for it. */
async function transactionRejectionRequest(
  txId: string,
  { requestId, me }: StatementContext,
): Promise<ApprovalRequest> {
  const { canonical, rejection, policy } = await good(
    api.transaction[':txId'].challenge.$get({ param: { txId }, query: {} }),
  );
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical: rejection.canonical,
    policy: policy.canonical,
    proposed: null,
    mandate: canonical,
    ...WITHOUT_STATEMENTS,
    remarks: [],
  };
}

async function changeRequest(
  { vaultId, changeId }: ChangeTask,
  { nonce, requestId, me }: StatementContext,
): Promise<ApprovalRequest> {
  const line = api.vault[':vaultId']['policy-change'][':changeId'];
  const answer = await good(line.$get({ param: { vaultId, changeId }, query: queryOf(nonce) }));
  const { canonical, decidedBy, keys, statements, createdBy } = answer;
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical,
    // The policy whose quorum approves: the policy in force, or the one before the version that a
    // renewal is for.
    policy: decidedBy.canonical,
    proposed: answer.policy.canonical,
    mandate: null,
    keys,
    statements: relayed(statements),
    // A first policy without co-signer keys receives them by this change. The person confirms them
    // first.
    cosigners: answer.policy.cosigners ?? [],
    remarks: createdBy === null ? [] : [{ label: 'Proposed by', text: createdBy }],
  };
}

/** Returns the request to reject a policy change. The approval page needs no statements for it. */
async function rejectionRequest(
  { vaultId, changeId }: ChangeTask,
  { requestId, me }: StatementContext,
): Promise<ApprovalRequest> {
  const line = api.vault[':vaultId']['policy-change'][':changeId'];
  const answer = await good(line.$get({ param: { vaultId, changeId }, query: {} }));
  const { rejection, canonical, decidedBy, createdBy } = answer;
  return {
    type: 'conclave/approval/request',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId: me.id,
    canonical: rejection.canonical,
    policy: decidedBy.canonical,
    proposed: answer.policy.canonical,
    mandate: canonical,
    ...WITHOUT_STATEMENTS,
    remarks: createdBy === null ? [] : [{ label: 'Proposed by', text: createdBy }],
  };
}

async function enrolmentRequest(
  { vaultId }: Extract<SigningTask, { kind: 'enrolment' }>,
  { requestId, me }: StatementContext,
): Promise<EnrolmentRequest> {
  const [userId, userName] = [me.id, me.name];
  const { policy } = await good(api.vault[':vaultId'].policy.$get({ param: { vaultId }, query: {} }));
  const own = policy.devices.filter((device) => device.userId === userId);
  const credentialIds = own.flatMap(({ credentialId }) => credentialId ?? []);
  return {
    type: 'conclave/approval/enrolment',
    version: APPROVAL_PROTOCOL,
    requestId,
    userId,
    userName,
    credentialIds,
  };
}

async function policyViewRequest(
  { vaultId }: Extract<SigningTask, { kind: 'policy-view' }>,
  { requestId, nonce }: StatementContext,
): Promise<PolicyViewRequest> {
  const { policy, keys, statements } = await good(
    api.vault[':vaultId'].policy.$get({ param: { vaultId }, query: queryOf(nonce) }),
  );
  return {
    type: 'conclave/approval/policy-view',
    version: APPROVAL_PROTOCOL,
    requestId,
    policy: policy.canonical,
    keys,
    statements: relayed(statements),
    cosigners: policy.cosigners ?? [],
  };
}

/** Returns the statements in the form of the protocol. */
function relayed(statements: readonly RelayedStatement[] | null): readonly RelayedStatement[] {
  return (statements ?? []).map(({ cosigner, keyId, statement }) => ({ cosigner, keyId, statement }));
}

function queryOf(nonce: string | null): { readonly nonce?: string } {
  return nonce === null ? {} : { nonce };
}
