import type { Refusal } from '#domain/refusal.ts';

/** The refusals of the HTTP layer, before or around the domain. */
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
  | 'key-refresh-activating'
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

/** The `code` of a problem. */
export type ProblemCode = Refusal['code'] | HttpFault;
