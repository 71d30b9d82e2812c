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

/** Returns the refusals that every route of this kind can have, in the order of the checks. */
export function commonRefusals(route: Route): readonly ProblemCode[] {
  const { access, method, path, query, sessionOnly } = route;
  const body = route.body ?? route.optionalBody;
  if (access === 'monitor') return ['quota-exceeded', 'unavailable', 'internal'];
  const hasInput = body !== undefined || query !== undefined || path.includes(':') || method !== 'GET';
  return [
    ...(access === 'service' ? ['service-key-invalid' as const] : []),
    ...(access === 'service' || access === 'anyone' ? [] : OF_CREDENTIALS),
    ...(sessionOnly === true ? ['session-required' as const] : []),
    ...(access === 'anyone' ? [] : ['quota-exceeded' as const]),
    ...(access === 'service' || access === 'anyone' || sessionOnly === true ? [] : ['insufficient-scope' as const]),
    ...(method === 'GET' ? [] : ['body-too-large' as const]),
    ...(body === undefined ? [] : (['unsupported-media-type', 'malformed-json'] as const)),
    ...(hasInput ? ['invalid-request' as const] : []),
    ...(access === 'anyone' ? [] : (['unavailable', 'state-unreadable', 'internal'] as const)),
  ];
}
