import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import { STATE_UNREADABLE } from '#domain/operations/alert.ts';
import { authenticate, authenticateService, sessionOnly } from '#http/edge/authenticate.ts';
import type { HttpContext, HttpEnv } from '#http/encode/context.ts';
import type { Route } from '#http/edge/route.ts';
import { scopeOf } from '#http/edge/route.ts';
import { countRequests, tagRoute } from '#http/edge/request-metrics.ts';
import { docs, openApiDocument, publicDocument } from '#http/docs.ts';
import { ObjectUnavailable } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { requestId } from '#http/edge/request-id.ts';
import { ROUTES } from '#http/routes.ts';
import { storeAlert } from '#objects/metrics.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText, isQueryFault } from '#store/error-text.ts';
import { unreadableText } from '#store/object-schema.ts';

const RETRY_SECONDS = '2';

export const app = new Hono<HttpEnv>();

app.use(countRequests);
app.use(requestId);
app.use('/openapi.json', publicDocument);
app.use('/docs', publicDocument);
app.get('/openapi.json', openApiDocument);
app.get('/docs', docs);
for (const route of ROUTES) {
  app.on([route.method], [route.path], tagRoute(route.path), ...authMiddleware(route), route.respond);
}
app.notFound((context) => missing(context));
app.onError((error, context) => failed(error, context));

function authMiddleware(route: Route): MiddlewareHandler<HttpEnv>[] {
  // The signature of a monitor's delivery authenticates it, and the route verifies it.
  if (route.access === 'anyone' || route.access === 'monitor') return [];
  if (route.access === 'service') return [authenticateService(route.scope)];
  const required = { policy: route.access, scope: scopeOf(route), byDevice: route.byDevice === true };
  return [authenticate(required), ...(route.sessionOnly === true ? [sessionOnly] : [])];
}

/** Returns 405 with the supported methods when the path exists with another method, else 404. */
function missing(context: HttpContext): Response {
  const path = context.req.path.split('/');
  const methods = ROUTES.filter((route) => matches(route.path.split('/'), path)).map((route) => route.method);
  if (methods.length === 0) return problem(context, 'not-found');
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return problem(context, 'method-not-allowed', { detail: `This path supports ${allow}.`, headers: { allow } });
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))
  );
}

async function failed(error: Error, context: HttpContext): Promise<Response> {
  if (error instanceof ObjectUnavailable) return unavailable(context);
  if (unreadableText(error) !== null) {
    const detail = logUnreadable(error, { requestId: context.get('requestId') });
    await storeAlert(context.env, { code: STATE_UNREADABLE, detail });
    return problem(context, 'state-unreadable', { detail });
  }
  const requestIdText = context.get('requestId');
  console.error(JSON.stringify({ event: 'request-failed', requestId: requestIdText, error: errorText(error) }));
  if (isQueryFault(error)) return unavailable(context);
  return problem(context, 'internal');
}

function unavailable(context: HttpContext): Response {
  const headers = { 'retry-after': RETRY_SECONDS };
  return problem(context, 'unavailable', { detail: 'The request may not have taken effect. Try again.', headers });
}
