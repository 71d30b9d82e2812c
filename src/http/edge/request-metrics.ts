import { createMiddleware } from 'hono/factory';
import type { HttpEnv } from '#http/edge/context.ts';
import { recordMetric } from '#objects/metrics.ts';

/** Counts every request by its route and the status of its answer. What is no route of the interface is counted as one. */
export const countRequests = createMiddleware<HttpEnv>(async (context, next) => {
  await next();
  const path = context.get('route') ?? 'none';
  recordMetric(context.env, { kind: 'request', texts: [context.req.method, path, String(context.res.status)] });
});

/** Says which route it is, before anything of it can be refused. */
export function tagRoute(path: string) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    context.set('route', path);
    await next();
  });
}
