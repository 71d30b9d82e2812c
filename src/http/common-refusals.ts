import type { Route } from '#http/edge/route.ts';
import type { ProblemCode } from '#http/encode/problems.ts';

const OF_CREDENTIALS = [
  'token-missing',
  'token-invalid',
  'token-disabled',
  'token-expired',
  'address-not-allowed',
  'cross-site-request',
  'session-invalid',
  'session-expired',
] as const;

/** The routes with which a new member answers an invitation. */
const ANSWERS = /\/(?:accept|decline)$/;

/** Returns the refusals that every route of this kind can have, in the order of the checks. */
export function commonRefusals(route: Route): readonly ProblemCode[] {
  const { access, method, path, query, sessionOnly, byDevice, refuses } = route;
  const body = route.body ?? route.optionalBody;
  if (access === 'monitor') return ['quota-exceeded', 'unavailable', 'internal'];
  const hasInput = body !== undefined || query !== undefined || path.includes(':') || method !== 'GET';
  return [
    ...(access === 'service' ? (['service-key-invalid', 'address-not-allowed'] as const) : []),
    ...(access === 'service' || access === 'anyone' ? [] : OF_CREDENTIALS),
    ...(byDevice === true ? (['device-signature-refused', 'user-disabled'] as const) : []),
    ...(sessionOnly === true ? ['session-required' as const] : []),
    ...(access === 'anyone' ? [] : ['quota-exceeded' as const]),
    ...(access === 'anyone' || sessionOnly === true ? [] : ['insufficient-scope' as const]),
    ...(method === 'GET' ? [] : ['body-too-large' as const]),
    ...(body === undefined ? [] : (['unsupported-media-type', 'malformed-json'] as const)),
    ...(hasInput ? ['invalid-request' as const] : []),
    ...(refuses.includes('forbidden') && !ANSWERS.test(path) ? ['vault-not-accepted' as const] : []),
    ...(access === 'anyone' ? [] : (['unavailable', 'state-unreadable', 'internal'] as const)),
  ];
}
