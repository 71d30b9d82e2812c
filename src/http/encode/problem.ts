import * as z from 'zod';
import { violationText } from '#http/encode/violation-text.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import { unreachable } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { FixedCode, ProblemCode } from '#http/encode/problems.ts';
import { PROBLEMS } from '#http/encode/problems.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';

/**
 * RFC 9457 leaves the type to the service, except for the types in the HTTP problem type registry.
 */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

export interface ProblemDetails {
  readonly detail: string;
  readonly errors?: readonly FieldFault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members, such as the transaction id to which an external id belongs. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** The schema of every refusal. */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Machine-readable code, from a closed set for each endpoint' }),
    requestId: z.string(),
    errors: z.array(z.strictObject({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

export function statusOf(code: ProblemCode): (typeof PROBLEMS)[ProblemCode][0] {
  return PROBLEMS[code][0];
}

/**
 * Returns a response with `application/problem+json` (RFC 9457). A code whose detail depends on the
 * request needs one here.
 */
export function problem<Code extends ProblemCode>(
  context: HttpContext,
  code: Code,
  ...[details = {}]: Code extends FixedCode ? [details?: Partial<ProblemDetails>] : [details: ProblemDetails]
): Response {
  const [status, title, detail] = PROBLEMS[code];
  const body = {
    type: code === 'quota-exceeded' ? QUOTA_EXCEEDED : `urn:conclave:problem:${code}`,
    title,
    status,
    detail: details.detail ?? detail,
    code,
    requestId: context.get('requestId'),
    ...(details.errors === undefined ? {} : { errors: details.errors }),
    ...details.members,
  };
  return context.body(JSON.stringify(body), status, {
    'content-type': 'application/problem+json',
    ...details.headers,
  });
}

/** Returns the problem response of a refusal of the domain. */
export function refusalProblem(context: HttpContext, refusal: Refusal): Response {
  return isFixed(refusal) ? problem(context, refusal.code) : problem(context, refusal.code, detailsOf(refusal));
}

type FixedRefusal = Extract<Refusal, { readonly code: FixedCode }>;

function isFixed(refusal: Refusal): refusal is FixedRefusal {
  return PROBLEMS[refusal.code][2] !== null;
}

function detailsOf(refusal: Exclude<Refusal, FixedRefusal>): ProblemDetails {
  switch (refusal.code) {
    case 'transaction-not-pending':
      return {
        detail: `The transaction is not pending. Its state is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'transaction-not-broadcast':
      return {
        detail: `The fee can be raised only while the transaction is unmined. Its state is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'end-not-unknown':
      return {
        detail: 'The transaction does not have this stateReason. Cancel it without the acknowledgement.',
        members: { state: refusal.state },
      };
    case 'device-signature-refused':
      return { detail: `The device signature is not valid: ${refusal.fault}.`, members: { fault: refusal.fault } };
    case 'external-id-taken':
      return {
        detail: `Another transaction of this vault has this external id. Its state is ${refusal.state}.`,
        members: { transactionId: refusal.transactionId, state: refusal.state, createdBy: refusal.createdBy },
      };
    case 'utxo-in-flight':
      return {
        detail: 'The bytes of a transaction in flight spend the UTXO. A lock would not stop it.',
        members: { transactionId: refusal.transactionId },
      };
    case 'too-many-utxo-locks':
      return { detail: `A vault can have at most ${refusal.limit} locked UTXOs. Unlock some first.` };
    case 'not-after-passed':
      return { detail: `notAfter (${rfc3339(refusal.notAfterMs)}) has passed. Nothing was stored.` };
    case 'wallet-not-ready':
      return { detail: `The vault's key for ${refusal.chain} is still being generated.` };
    case 'chain-not-enabled':
      return { detail: `The chain ${refusal.chain} is not enabled for the vault.` };
    case 'too-many-pending':
      return {
        detail: `A vault can have at most ${refusal.limit} pending transactions. Approve, reject or cancel some first.`,
      };
    case 'too-many-own-pending':
      return {
        detail: `You can have at most ${refusal.limit} pending transactions in this vault. Cancel some first.`,
      };
    case 'recipient-is-token':
      return {
        detail:
          `${refusal.address} is the contract of the token itself, which can seldom return what it receives. Send the ` +
          'address of the recipient, or set recipientIsToken.',
        members: { address: refusal.address },
      };
    case 'recipient-looks-alike':
      return {
        detail:
          `${refusal.address} resembles ${refusal.known}, an address that the vault knows, but is a different ` +
          'address. ' +
          'To proceed, send acceptLookalikeOf with the known address. One more approval is then required.',
        members: { address: refusal.address, known: refusal.known },
      };
    case 'max-fee-above-cap':
      return maxFeeDetails(
        refusal.code,
        `Must be at most ${refusal.largest}, the fee cap of the chain or the policy.`,
        {
          largest: refusal.largest,
        },
      );
    case 'policy-forbids':
      return { detail: violationText(refusal.breach), members: { breach: refusal.breach } };
    case 'policy-change-not-pending':
      return {
        detail: `The policy change is not pending. Its state is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'too-many-policy-changes':
      return {
        detail: `A vault can have at most ${refusal.limit} pending policy changes. Approve or cancel some first.`,
      };
    case 'too-many-own-policy-changes':
      return {
        detail: `You can have at most ${refusal.limit} pending policy changes in this vault. Cancel one first.`,
      };
    case 'mandate-in-force':
      return {
        detail: 'Co-signers can still adopt this version. Its mandate can be renewed after mandateEndsAt.',
        members: { mandateEndsAt: rfc3339(refusal.expiresAtMs) },
      };
    case 'insufficient-scope':
      return {
        detail: `The token does not have the scope '${refusal.scope}'.`,
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${refusal.scope}"` },
        members: { scope: refusal.scope },
      };
    case 'access-token-inactive':
      return refusal.reason === 'expired'
        ? { detail: 'The token has expired. Send a later expiresAt together with enabled: true.' }
        : { detail: 'The token is disabled. Enable it first.' };
    case 'credential-reset-not-ready':
      return refusal.effectiveAtMs === null
        ? { detail: 'A vault of this user could not be informed of the reset yet. Try again.' }
        : {
            detail: 'The delay has not passed yet.',
            members: { effectiveAt: new Date(refusal.effectiveAtMs).toISOString() },
          };
    case 'credential-reset-not-pending':
      return {
        detail: `The credential reset is not pending. Its state is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'session-invalid':
      return { detail: 'Log in again.' };
    case 'too-much-disabled':
      return {
        detail: `A vault refuses at most ${refusal.limit} members and credentials. Disable the member instead.`,
      };
    case 'too-many-access-tokens':
      return { detail: `A user can have at most ${refusal.limit} tokens. Delete some first.` };
    case 'too-many-credential-resets':
      return { detail: `A user can have at most ${refusal.limit} credential resets in 24 hours.` };
    case 'reset-cancellation-used':
      return {
        detail:
          'You have already cancelled a credential reset of this user within 90 days. The user can cancel this one by a ' +
          'session or a device, or another member.',
        members: { availableAt: rfc3339(refusal.availableAtMs) },
      };
    default:
      return unreachable(refusal);
  }
}

/** Returns the details of a `maxFee` that cannot be used, with the largest one that can be. */
export function maxFeeDetails(
  code: ProblemCode,
  detail: string,
  members: { readonly largest: string },
): ProblemDetails {
  return { detail, errors: [{ pointer: '/maxFee', code, detail }], members };
}
