import * as z from 'zod';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { violationText } from '#http/encode/violation-text.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import type { Refusal } from '#domain/refusal.ts';
import { unreachable } from '#domain/result.ts';
import type { HttpContext } from '#http/edge/context.ts';
import type { ProblemCode } from '#http/encode/problem-code.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';

/** The status and the title of each refusal. */
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
  'webhook-refused': [401, 'Webhook signature not accepted'],
  forbidden: [403, 'Not allowed'],
  'session-required': [403, 'A session is required'],
  'device-signature-required': [403, 'Device signature required'],
  'device-signature-refused': [403, 'Device signature invalid'],
  'login-refused': [403, 'Login failed'],
  'login-unknown': [403, 'Unknown user'],
  'cross-site-request': [403, 'The request comes from another site'],
  'removed-by-change': [403, 'The policy change removes you as a signer'],
  'access-token-own-expiry': [403, 'A token cannot extend its own expiry'],
  'not-found': [404, 'Not found'],
  'transaction-not-found': [404, 'Transaction not found'],
  'credential-reset-not-found': [404, 'Credential reset not found'],
  'policy-change-not-found': [404, 'Policy change not found'],
  'policy-version-not-found': [404, 'Policy version not found'],
  'user-not-found': [404, 'User not found'],
  'push-subscription-not-found': [404, 'Push subscription not found'],
  'access-token-not-found': [404, 'Token not found'],
  'vault-not-found': [404, 'Vault not found'],
  'key-not-found': [404, 'Key not found'],
  'reprocess-report-not-found': [404, 'Report not found'],
  'method-not-allowed': [405, 'Method not allowed'],
  'transaction-not-pending': [409, 'The transaction is not pending'],
  'transaction-not-broadcast': [409, 'The fee of the transaction cannot be raised'],
  'end-not-unknown': [409, 'The acknowledgement does not apply'],
  'digest-mismatch': [409, 'The digest does not match the intent'],
  'external-id-taken': [409, 'The external id is already in use'],
  'utxo-in-flight': [409, 'A transaction in flight spends the UTXO'],
  'too-many-utxo-locks': [409, 'Too many UTXOs are locked'],
  'wallet-not-ready': [409, 'The wallet is not ready'],
  'too-many-pending': [409, 'Too many transactions are pending'],
  'too-many-own-pending': [409, 'Too many of your transactions are pending'],
  'recipient-is-token': [409, 'The recipient is the contract of the token'],
  'recipient-looks-alike': [409, 'Address resembles a known address'],
  'policy-change-not-pending': [409, 'The policy change is not pending'],
  'policy-unchanged': [409, 'The policy would not change'],
  'too-many-policy-changes': [409, 'Too many policy changes are pending'],
  'too-many-own-policy-changes': [409, 'Too many of your policy changes are pending'],
  'founding-incomplete': [409, 'Devices are missing from the policy'],
  'mandate-in-force': [409, 'The mandate of the policy has not expired'],
  'key-refresh-activating': [409, 'The key refresh must be completed'],
  'needs-quorum': [409, 'Requires a policy change approved by the signers'],
  'credential-reset-required': [409, 'A credential reset is required'],
  'credential-reset-not-ready': [409, 'The credential reset is not in effect yet'],
  'credential-reset-not-pending': [409, 'The credential reset is not pending'],
  'too-many-credential-resets': [409, 'Too many credential resets'],
  'reset-cancellation-used': [409, 'You have cancelled an earlier credential reset'],
  'too-many-access-tokens': [409, 'Too many tokens'],
  'login-not-configured': [409, 'Login is not configured'],
  'push-not-configured': [409, 'Notifications are not configured'],
  'too-many-push-subscriptions': [409, 'Too many push subscriptions'],
  'access-token-inactive': [409, 'The token is not active'],
  'body-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'The body must be JSON'],
  'idempotency-key-reused': [422, 'The Idempotency-Key was used for another request'],
  'chain-not-enabled': [422, 'The vault does not use this chain'],
  'not-after-passed': [422, 'notAfter has passed'],
  'max-fee-above-cap': [422, 'maxFee is above the fee cap'],
  'max-fee-too-low': [422, 'maxFee is below the current fee'],
  'policy-forbids': [422, 'Not allowed by the policy of the vault'],
  'insufficient-funds': [422, 'Insufficient funds'],
  'would-revert': [422, 'The transaction would fail on chain'],
  'not-on-this-chain': [422, 'Not supported on this chain'],
  'allowance-not-zero': [422, 'Reset the allowance to 0 first'],
  'quota-exceeded': [429, 'Too many requests'],
  'login-unavailable': [503, 'The identity provider is unavailable'],
  'chain-unavailable': [503, 'No RPC node is available'],
  unavailable: [503, 'Temporarily unavailable'],
  'state-unreadable': [500, 'Stored state cannot be read'],
  internal: [500, 'Internal error'],
};

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

export function statusOf(code: ProblemCode): ContentfulStatusCode {
  return PROBLEMS[code][0];
}

/** Returns a response with `application/problem+json` (RFC 9457). */
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

/** Returns the problem response of a refusal of the domain. */
export function refusalProblem(context: HttpContext, refusal: Refusal): Response {
  return problem(context, refusal.code, detailsOf(refusal));
}

function detailsOf(refusal: Refusal): ProblemDetails {
  switch (refusal.code) {
    case 'forbidden':
      return { detail: 'You do not have permission, or the resource does not exist.' };
    case 'transaction-not-found':
      return { detail: 'The vault has no transaction with this id.' };
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
    case 'digest-mismatch':
      return { detail: 'The approval is for another intent. Read the challenge again.' };
    case 'device-signature-required':
      return {
        detail:
          'This vault requires device-signed approvals. Send keyId and a signature of the digest of the challenge.',
      };
    case 'device-signature-refused':
      return { detail: `The device signature is not valid: ${refusal.fault}.`, members: { fault: refusal.fault } };
    case 'idempotency-key-reused':
      return { detail: 'The same Idempotency-Key was sent with another body. Use a new key for a new transaction.' };
    case 'external-id-taken':
      return {
        detail: 'Another transaction of this vault has this external id.',
        members: { transactionId: refusal.transactionId },
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
    case 'policy-change-not-found':
      return { detail: 'The vault has no policy change with this id.' };
    case 'policy-change-not-pending':
      return {
        detail: `The policy change is not pending. Its state is ${refusal.state}.`,
        members: { state: refusal.state },
      };
    case 'policy-unchanged':
      return { detail: 'The change would not alter the policy in force.' };
    case 'too-many-policy-changes':
      return {
        detail: `A vault can have at most ${refusal.limit} pending policy changes. Approve or cancel some first.`,
      };
    case 'too-many-own-policy-changes':
      return {
        detail: `You can have at most ${refusal.limit} pending policy changes in this vault. Cancel one first.`,
      };
    case 'removed-by-change':
      return { detail: 'The change removes you as a signer. Only the other signers decide on it.' };
    case 'policy-version-not-found':
      return { detail: 'No policy change was adopted as this version.' };
    case 'founding-incomplete':
      return {
        detail: 'Devices are missing from the policy: see `founding` of the policy. Their owners add them first.',
      };
    case 'mandate-in-force':
      return {
        detail: 'Co-signers can still adopt this version. Its mandate can be renewed after mandateEndsAt.',
        members: { mandateEndsAt: rfc3339(refusal.expiresAtMs) },
      };
    case 'access-token-not-found':
      return { detail: 'You have no token with this id.' };
    case 'access-token-own-expiry':
      return { detail: 'A token can shorten its own expiry but not extend it. Use another of your tokens.' };
    case 'access-token-inactive':
      return refusal.reason === 'expired'
        ? { detail: 'The token has expired. Send a later expiresAt together with enabled: true.' }
        : { detail: 'The token is disabled. Enable it first.' };
    case 'credential-reset-required':
      return {
        detail:
          'This user has already had a credential. Request a credential reset with POST ' +
          '/internal/user/{userId}/credential-reset. It takes effect after a delay, during which it can be cancelled.',
      };
    case 'credential-reset-not-found':
      return { detail: 'There is no credential reset with this id.' };
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
    case 'too-many-credential-resets':
      return { detail: `A user can have at most ${refusal.limit} credential resets in 24 hours.` };
    case 'reset-cancellation-used':
      return {
        detail:
          'You have already cancelled a credential reset of this user within 90 days. The user or another member can ' +
          'cancel this one.',
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
