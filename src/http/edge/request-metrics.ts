import { createMiddleware } from 'hono/factory';
import type { HttpContext, HttpEnv } from '#http/encode/context.ts';
import { isLogged, logLine } from '#store/operations/log-line.ts';
import { recordMetric } from '#objects/metrics.ts';

/**
 * Counts every request by its route and response status, and logs a share of them. Requests that
 * match no route share one count.
 */
export const countRequests = createMiddleware<HttpEnv>(async (context, next) => {
  const startMs = Date.now();
  await next();
  const path = context.get('route') ?? 'none';
  recordMetric(context.env, { kind: 'request', texts: [context.req.method, path, String(context.res.status)] });
  if (isLogged(context.env, { always: isAlwaysLogged(context) })) logRequest(context, Date.now() - startMs);
});

/**
 * What goes wrong is logged whatever the share is. The requests of strangers are not: anyone can
 * send any number of them.
 */
function isAlwaysLogged(context: HttpContext): boolean {
  const { status } = context.res;
  const isKnown = context.get('caller') !== undefined || context.get('serviceKey') !== undefined;
  return status >= 500 || (status >= 400 && isKnown);
}

/** The path of a route has no ids, and the line has nothing of the body, the query or a header. */
function logRequest(context: HttpContext, ms: number): void {
  // Only requests behind `authenticate` have a caller.
  const caller: HttpEnv['Variables']['caller'] | undefined = context.get('caller');
  const { method } = context.req;
  const { status } = context.res;
  const [requestId, route] = [context.get('requestId'), context.get('route') ?? 'none'];
  const by = { userId: caller?.user.id, tokenId: caller?.tokenId, serviceKey: context.get('serviceKey') };
  logLine({ event: 'request', requestId, method, route, status, ms, ...by });
}

/** Returns the middleware that records the route before any check can refuse the request. */
export function tagRoute(path: string) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    context.set('route', path);
    await next();
  });
}
