import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from '#domain/transaction/refusal.ts';

/** The detail is null when it depends on the request. */
type Problem = readonly [status: ContentfulStatusCode, title: string, detail: string | null];

/**
 * Every refusal of the API. All codes of the closed union of the domain (`domain/refusal.ts`) must
 * be here. The others are refusals of the HTTP layer, before or around the domain.
 */
export const PROBLEMS = {
  'invalid-request': [400, 'The request is not valid', null],
  'malformed-json': [400, 'The body is not JSON', null],
  'token-missing': [401, 'A token is required', null],
  'token-invalid': [401, 'The token is not valid', null],
  'token-expired': [401, 'The token has expired', null],
  'token-disabled': [401, 'The token is disabled', null],
  'session-invalid': [401, 'The session is not valid', null],
  'session-expired': [401, 'The session has expired', null],
  'service-key-invalid': [401, 'A service key is required', null],
  'webhook-refused': [401, 'Webhook signature not accepted', null],
  forbidden: [403, 'Not allowed', 'You do not have permission, or the resource does not exist.'],
  'address-not-allowed': [
    403,
    'The credential is limited to other addresses',
    'The token is not accepted from the address of this request.',
  ],
  'insufficient-scope': [403, 'The credential lacks a scope', null],
  'session-required': [403, 'A session is required', null],
  'device-signature-required': [
    403,
    'Device signature required',
    'This vault requires device-signed approvals. Send keyId and a signature of the digest of the challenge.',
  ],
  'device-signature-refused': [403, 'Device signature invalid', null],
  'login-refused': [403, 'Login failed', null],
  'login-unknown': [403, 'Unknown user', null],
  'cross-site-request': [403, 'The request comes from another site', 'The request was sent by another site.'],
  'removed-by-change': [
    403,
    'The policy change removes you as a signer',
    'The change removes you as a signer. Only the other signers decide on it.',
  ],
  'access-token-superseded': [
    403,
    'The value was replaced',
    'The value before the last rotation manages no token. Send the new value. If the response with it was lost, repeat ' +
      'the rotation with the same Idempotency-Key, or log in.',
  ],
  'access-token-beyond-own': [
    403,
    'The token would manage more than it has',
    'A token manages no token with a later end or more access than its own. Log in to manage it.',
  ],
  'access-token-own-expiry': [
    403,
    'A token cannot extend its own expiry',
    'A token can shorten its own expiry but not extend it. Use another of your tokens.',
  ],
  'not-found': [404, 'Not found', 'This path does not exist.'],
  'transaction-not-found': [404, 'Transaction not found', 'The vault has no transaction with this id.'],
  'credential-reset-not-found': [404, 'Credential reset not found', 'There is no credential reset with this id.'],
  'policy-change-not-found': [404, 'Policy change not found', 'The vault has no policy change with this id.'],
  'policy-version-not-found': [404, 'Policy version not found', 'No policy change was adopted as this version.'],
  'user-not-found': [404, 'User not found', 'There is no user with this id.'],
  'push-subscription-not-found': [404, 'Push subscription not found', 'You have no push subscription with this id.'],
  'access-token-not-found': [404, 'Token not found', 'You have no token with this id.'],
  'member-not-found': [404, 'Member not found', 'The vault has no member with this id.'],
  'alert-not-open': [
    404,
    'No such open alert',
    'No open alert with this id is stored. An alert of the status is stored within 15 minutes.',
  ],
  'credential-not-found': [404, 'Credential not found', 'The user has no token and no open session with this id.'],
  'vault-not-found': [404, 'Vault not found', 'There is no vault with this id.'],
  'key-not-found': [404, 'Key not found', 'The vault has no key with this id.'],
  'reprocess-report-not-found': [404, 'Report not found', null],
  'method-not-allowed': [405, 'Method not allowed', null],
  'transaction-not-pending': [409, 'The transaction is not pending', null],
  'transaction-not-broadcast': [409, 'The fee of the transaction cannot be raised', null],
  'end-not-unknown': [409, 'The acknowledgement does not apply', null],
  'external-id-taken': [409, 'The external id is already in use', null],
  'utxo-in-flight': [409, 'A transaction in flight spends the UTXO', null],
  'too-many-utxo-locks': [409, 'Too many UTXOs are locked', null],
  'wallet-not-ready': [409, 'The wallet is not ready', null],
  'too-many-pending': [409, 'Too many transactions are pending', null],
  'too-many-vaults': [
    409,
    'Too many vaults',
    'The feed has at most 1,000 vaults. Use tokens that are limited to some of your vaults.',
  ],
  'too-many-own-pending': [409, 'Too many of your transactions are pending', null],
  'recipient-is-token': [409, 'The recipient is the contract of the token', null],
  'recipient-looks-alike': [409, 'Address resembles a known address', null],
  'policy-change-not-pending': [409, 'The policy change is not pending', null],
  'policy-unchanged': [409, 'The policy would not change', 'The change would not alter the policy in force.'],
  'too-many-policy-changes': [409, 'Too many policy changes are pending', null],
  'too-many-own-policy-changes': [409, 'Too many of your policy changes are pending', null],
  'founding-incomplete': [
    409,
    'Devices are missing from the policy',
    'Devices are missing from the policy: see `founding` of the policy. Their owners add them first.',
  ],
  'mandate-in-force': [409, 'The mandate of the policy has not expired', null],
  'key-refresh-activating': [409, 'The key refresh must be completed', null],
  'needs-quorum': [409, 'Requires a policy change approved by the signers', null],
  'too-many-members': [409, 'The vault has too many members', null],
  'vault-not-accepted': [
    403,
    'You have not accepted this vault',
    'Accept the vault with POST /vault/{vaultId}/accept or in the dashboard.',
  ],
  'vault-accepted': [409, 'You have accepted this vault', 'An accepted vault cannot be declined.'],
  'own-access': [409, 'You cannot disable yourself', 'Another admin of the vault or an operator can disable you.'],
  'quorum-disabled': [
    409,
    'The remaining signers would have no quorum',
    'Too few signers would remain to decide. Only an operator can disable this member.',
  ],
  'too-much-disabled': [409, 'Too many members or credentials are disabled', null],
  'user-disabled': [
    409,
    'The user is disabled',
    'An operator has disabled the user. Only an operator enables the user again.',
  ],
  'credential-reset-required': [
    409,
    'A credential reset is required',
    'This user has already had a credential. Request a credential reset with POST ' +
      '/internal/user/{userId}/credential-reset. It takes effect after a delay, during which it can be cancelled.',
  ],
  'credential-reset-not-ready': [409, 'The credential reset is not in effect yet', null],
  'credential-reset-not-pending': [409, 'The credential reset is not pending', null],
  'too-many-credential-resets': [409, 'Too many credential resets', null],
  'reset-cancellation-used': [409, 'You have cancelled an earlier credential reset', null],
  'too-many-access-tokens': [409, 'Too many tokens', null],
  'login-not-configured': [409, 'Login is not configured', 'No identity provider is configured.'],
  'push-not-configured': [409, 'Notifications are not configured', 'Web Push keys are not configured.'],
  'too-many-push-subscriptions': [409, 'Too many push subscriptions', null],
  'access-token-inactive': [409, 'The token is not active', null],
  'body-too-large': [413, 'The body is too large', null],
  'unsupported-media-type': [415, 'The body must be JSON', 'Send Content-Type: application/json.'],
  'idempotency-key-reused': [
    422,
    'The Idempotency-Key was used for another request',
    'The same Idempotency-Key was sent with another body or for another vault. Use a new key for a new transaction.',
  ],
  'chain-not-enabled': [422, 'The vault does not use this chain', null],
  'not-after-passed': [422, 'notAfter has passed', null],
  'max-fee-above-cap': [422, 'maxFee is above the fee cap', null],
  'max-fee-too-low': [422, 'maxFee is below the current fee', null],
  'policy-forbids': [422, 'Not allowed by the policy of the vault', null],
  'insufficient-funds': [422, 'Insufficient funds', null],
  'would-revert': [422, 'The transaction would fail on chain', null],
  'not-on-this-chain': [422, 'Not supported on this chain', null],
  'allowance-not-zero': [422, 'Reset the allowance to 0 first', null],
  'quota-exceeded': [429, 'Too many requests', null],
  'login-unavailable': [
    503,
    'The identity provider is unavailable',
    'The identity provider does not respond. Try again.',
  ],
  'chain-unavailable': [503, 'No RPC node is available', null],
  'not-ready': [503, 'Not ready', 'Payments may not be signed or sent. The codes name the open alerts.'],
  unavailable: [503, 'Temporarily unavailable', null],
  'state-unreadable': [500, 'Stored state cannot be read', null],
  internal: [500, 'Internal error', 'The error was recorded under this request id.'],
} as const satisfies Readonly<Record<string, Problem>> & Readonly<Record<Refusal['code'], Problem>>;

/** The `code` of a problem. */
export type ProblemCode = keyof typeof PROBLEMS;

/** The codes whose detail is the same for every request. */
export type FixedCode = {
  [Code in ProblemCode]: (typeof PROBLEMS)[Code][2] extends string ? Code : never;
}[ProblemCode];
