import { createMiddleware } from 'hono/factory';
import type { HttpEnv } from '#http/encode/context.ts';

/**
 * The request ids that a caller may choose. Any other id is replaced, so that it cannot forge log
 * lines.
 */
const ACCEPTABLE = /^[A-Za-z0-9._-]{8,64}$/;

/** Gives every request an id, and every response the id and the headers that all responses have. */
export const requestId = createMiddleware<HttpEnv>(async (context, next) => {
  const offered = context.req.header('x-request-id');
  const id = offered !== undefined && ACCEPTABLE.test(offered) ? offered : crypto.randomUUID();
  context.set('requestId', id);
  // The headers are set before the response exists: afterwards each header would copy it.
  context.header('x-request-id', id);
  context.header('cache-control', 'no-store');
  context.header('x-content-type-options', 'nosniff');
  // Browsers ignore it on an address without TLS, such as that of the demo.
  context.header('strict-transport-security', 'max-age=31536000');
  await next();
});
