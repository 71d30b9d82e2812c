import type { Route } from '#http/context.ts';

/** GET /user/me (spec part 4): the profile of the caller, out of the token's own object. */
export const me: Route = {
  method: 'GET',
  path: '/user/me',
  access: 'user-profile',
  handle: (context) => context.json(context.get('caller').user),
};
