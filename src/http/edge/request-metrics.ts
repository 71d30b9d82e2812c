import { createMiddleware } from 'hono/factory';
import type { HttpEnv } from '#http/encode/context.ts';
import { recordMetric } from '#objects/metrics.ts';

/**
 * Counts every request by its route and response status. Requests that match no route share one
 * count.
 */
export const countRequests = createMiddleware<HttpEnv>(async (context, next) => {
  await next();
  const path = context.get('route') ?? 'none';
  recordMetric(context.env, { kind: 'request', texts: [context.req.method, path, String(context.res.status)] });
});

/** Returns the middleware that records the route before any check can refuse the request. */
export function tagRoute(path: string) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    context.set('route', path);
    await next();
  });
}
