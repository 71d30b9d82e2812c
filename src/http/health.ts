import type { Route } from '#http/context.ts';

/** GET /health (ours): the Worker answers. It asks nothing behind it, so it is no way to make load. */
export const health: Route = {
  method: 'GET',
  path: '/health',
  access: 'anyone',
  handle: (context) => context.json({ status: 'ok' }),
};
