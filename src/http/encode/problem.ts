import * as z from 'zod';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { violationText } from '#http/encode/violation-text.ts';
import type { Refusal } from '#domain/refusal.ts';
import { unreachable } from '#domain/result.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';

/** What HTTP itself refuses, before or around the domain. */
export type HttpFault =
  | 'invalid-request'
  | 'malformed-json'
  | 'token-missing'
  | 'token-invalid'
  | 'token-expired'
  | 'token-disabled'
  | 'session-invalid'
  | 'session-expired'
  | 'session-required'
  | 'cross-site-request'
  | 'service-key-invalid'
  | 'webhook-refused'
  | 'not-found'
  | 'user-not-found'
  | 'vault-not-found'
  | 'key-not-found'
  | 'needs-quorum'
  | 'too-many-access-tokens'
  | 'push-not-configured'
  | 'login-not-configured'
  | 'login-refused'
  | 'login-unknown'
  | 'login-unavailable'
  | 'push-subscription-not-found'
  | 'too-many-push-subscriptions'
  | 'insufficient-funds'
  | 'would-revert'
  | 'not-on-this-chain'
  | 'allowance-not-zero'
  | 'chain-unavailable'
  | 'method-not-allowed'
  | 'body-too-large'
  | 'unsupported-media-type'
  | 'quota-exceeded'
  | 'unavailable'
  | 'internal';

export type ProblemCode = Refusal['code'] | HttpFault;

/** One line for each refusal: the status (spec part 7; ours where it is silent) and the title. */
const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: ContentfulStatusCode, title: string]>> = {
  'invalid-request': [400, 'The request is not valid'],
  'malformed-json': [400, 'The body is not JSON'],
  'token-missing': [401, 'A token is required'],
  'token-invalid': [401, 'The token is not valid'],
  'token-expired': [401, 'The token has expired'],
  'token-disabled': [401, 'The token is disabled'],
  'session-invalid': [401, 'The session is not valid'],
  'session-expired': [401, 'The session has expired'],
  'service-key-invalid': [401, 'A service key is required'],
  'webhook-refused': [401, 'The delivery is from nobody known'],
  forbidden: [403, 'Not allowed'],
  'session-required': [403, 'A session is required'],
  'device-signature-required': [403, 'A device has to sign it'],
  'device-signature-refused': [403, 'The signature of the device is not right'],
  'login-refused': [403, 'Nobody is logged in'],
  'login-unknown': [403, 'This service does not know you'],
  'cross-site-request': [403, 'The request comes from another site'],
  'access-token-own-expiry': [403, 'A token can not prolong itself'],
  'not-found': [404, 'There is nothing here'],
  'transaction-not-found': [404, 'There is no such transaction'],
  'credential-reset-not-found': [404, 'There is no such credential reset'],
  'policy-change-not-found': [404, 'There is no such policy change'],
  'policy-version-not-found': [404, 'There is no such version of the policy'],
  'user-not-found': [404, 'There is no such user'],
  'push-subscription-not-found': [404, 'There is no such subscription'],
  'access-token-not-found': [404, 'There is no such token'],
  'vault-not-found': [404, 'There is no such vault'],
  'key-not-found': [404, 'There is no such key'],
  'method-not-allowed': [405, 'The method is not allowed here'],
  'transaction-not-pending': [409, 'The transaction is not pending'],
  'transaction-not-broadcast': [409, 'The transaction is not on its way'],
  'end-not-unknown': [409, 'The transaction ends by itself'],
  'digest-mismatch': [409, 'The approval names another intent'],
  'external-id-taken': [409, 'The external id is taken'],
  'wallet-not-ready': [409, 'The wallet is not ready'],
  'too-many-pending': [409, 'Too many transactions are pending'],
  'recipient-looks-alike': [409, 'The address looks like another one'],
  'policy-change-not-pending': [409, 'The policy change is not pending'],
  'policy-unchanged': [409, 'The policy would stay as it is'],
  'too-many-policy-changes': [409, 'Too many policy changes are pending'],
  'mandate-in-force': [409, 'The mandate of the policy has not expired'],
  'needs-quorum': [409, 'The signers have to decide this'],
  'credential-reset-required': [409, 'A credential reset is required'],
  'credential-reset-not-ready': [409, 'The credential reset is not in effect yet'],
  'credential-reset-not-pending': [409, 'The credential reset is not pending'],
  'too-many-credential-resets': [409, 'There are too many credential resets'],
  'too-many-access-tokens': [409, 'There are too many tokens'],
  'login-not-configured': [409, 'Logging in is not configured'],
  'push-not-configured': [409, 'Notifications are not configured'],
  'too-many-push-subscriptions': [409, 'There are too many subscriptions'],
  'access-token-inactive': [409, 'The token is not active'],
  'body-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body must be JSON'],
  'idempotency-key-reused': [422, 'The Idempotency-Key was used for another request'],
  'chain-not-enabled': [422, 'The vault does not use this chain'],
  'not-after-passed': [422, 'The time of the transaction is over'],
  'policy-forbids': [422, 'The policy of the vault forbids it'],
  'insufficient-funds': [422, 'The wallet does not have enough'],
  'would-revert': [422, 'The chain would refuse it'],
  'not-on-this-chain': [422, 'This chain has no such thing'],
  'allowance-not-zero': [422, 'The token wants its allowance set to 0 first'],
  'quota-exceeded': [429, 'Too many requests'],
  'login-unavailable': [503, 'The issuer does not answer'],
  'chain-unavailable': [503, 'The chain can not be asked'],
  unavailable: [503, 'Not available right now'],
  internal: [500, 'Something went wrong here'],
};

/** RFC 9457 leaves the type to us, except where the HTTP problem type registry has one. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** What is wrong with one part of the request. */
export interface FieldFault {
  /** JSON pointer into the body, or the name of the parameter. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

export interface ProblemDetails {
  readonly detail: string;
  readonly errors?: readonly FieldFault[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members, such as the id that an external id belongs to. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** What every refusal looks like. */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'For programs; a closed set for each endpoint' }),
    requestId: z.string(),
    errors: z.array(z.strictObject({ pointer: z.string(), code: z.string(), detail: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

export function statusOf(code: ProblemCode): ContentfulStatusCode {
  return PROBLEMS[code][0];
}

/** Answers with `application/problem+json` (RFC 9457). */
export function problem(context: HttpContext, code: ProblemCode, details: ProblemDetails): Response {
  const [status, title] = PROBLEMS[code];
  const body = {
    type: code === 'quota-exceeded' ? QUOTA_EXCEEDED : `urn:conclave:problem:${code}`,
    title,
    status,
    detail: details.detail,
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

/** Answers with what the domain refused. */
export function refusalProblem(context: HttpContext, refusal: Refusal): Response {
  return problem(context, refusal.code, detailsOf(refusal));
}

function detailsOf(refusal: Refusal): ProblemDetails {
  switch (refusal.code) {
    case 'forbidden':
      return { detail: 'This token has no such permission for this resource, or the resource does not exist.' };
    case 'transaction-not-found':
      return { detail: 'The vault has no transaction with this id.' };
    case 'transaction-not-pending':
      return {
        detail: `The transaction is ${refusal.state} and can not be decided.`,
        members: { state: refusal.state },
      };
    case 'transaction-not-broadcast':
      return {
        detail: `The transaction is ${refusal.state}; only one that waits to be mined can be made faster.`,
        members: { state: refusal.state },
      };
    case 'end-not-unknown':
      return {
        detail: 'The transaction does not wait for this reason. Cancel it without the acknowledgement.',
        members: { state: refusal.state },
      };
    case 'digest-mismatch':
      return { detail: 'The approval was given for another intent. Read the challenge again.' };
    case 'device-signature-required':
      return {
        detail:
          'This vault counts voices that a device has signed: send keyId and signature over the digest of the challenge.',
      };
    case 'device-signature-refused':
      return { detail: `The signature does not speak for you: ${refusal.fault}.`, members: { fault: refusal.fault } };
    case 'idempotency-key-reused':
      return { detail: 'The same Idempotency-Key came with another body. Use a new key for a new transaction.' };
    case 'external-id-taken':
      return {
        detail: 'Another transaction of this vault has this external id.',
        members: { transactionId: refusal.transactionId },
      };
    case 'not-after-passed':
      return { detail: `notAfter is ${rfc3339(refusal.notAfterMs)}, which has passed. Nothing was stored.` };
    case 'wallet-not-ready':
      return { detail: `The vault's key for ${refusal.chain} is still being generated.` };
    case 'chain-not-enabled':
      return { detail: `The vault is not set up for ${refusal.chain}.` };
    case 'too-many-pending':
      return { detail: `At most ${refusal.limit} transactions of a vault may be pending. Decide some first.` };
    case 'recipient-looks-alike':
      return {
        detail:
          `${refusal.address} begins and ends like ${refusal.known}, which this vault knows, and is another address. ` +
          'If it is really meant, send acceptLookalikeOf with the known one; it then takes one approval more.',
        members: { address: refusal.address, known: refusal.known },
      };
    case 'policy-forbids':
      return { detail: violationText(refusal.breach), members: { breach: refusal.breach } };
    case 'policy-change-not-found':
      return { detail: 'The vault has no policy change with this id.' };
    case 'policy-change-not-pending':
      return {
        detail: `The policy change is ${refusal.state} and can not be decided.`,
        members: { state: refusal.state },
      };
    case 'policy-unchanged':
      return { detail: 'The policy in force says all of this already.' };
    case 'too-many-policy-changes':
      return { detail: `At most ${refusal.limit} policy changes of a vault may be pending. Decide some first.` };
    case 'policy-version-not-found':
      return { detail: 'No change of the policy was adopted as this version.' };
    case 'mandate-in-force':
      return {
        detail: 'Co-signers still adopt this version. Its mandate can be renewed after mandateEndsAt.',
        members: { mandateEndsAt: rfc3339(refusal.expiresAtMs) },
      };
    case 'access-token-not-found':
      return { detail: 'You have no token with this id.' };
    case 'access-token-own-expiry':
      return { detail: 'A token may shorten its own life, not prolong it. Use another token of yours.' };
    case 'access-token-inactive':
      return refusal.reason === 'expired'
        ? { detail: 'The token has expired. Give it a later expiresAt together with enabled: true.' }
        : { detail: 'The token is disabled. Enable it first.' };
    case 'credential-reset-required':
      return {
        detail:
          'This person has had a credential. Request a credential reset with POST ' +
          '/internal/user/{userId}/credential-reset: it takes effect after a delay, in which people can cancel it.',
      };
    case 'credential-reset-not-found':
      return { detail: 'There is no credential reset with this id here.' };
    case 'credential-reset-not-ready':
      return refusal.effectiveAtMs === null
        ? { detail: 'A vault of this person could not be informed of the reset yet. Try again.' }
        : {
            detail: 'The delay has not passed yet.',
            members: { effectiveAt: new Date(refusal.effectiveAtMs).toISOString() },
          };
    case 'credential-reset-not-pending':
      return {
        detail: `The credential reset is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'too-many-credential-resets':
      return { detail: `A person has at most ${refusal.limit} credential resets in 24 hours.` };
    default:
      return unreachable(refusal);
  }
}
