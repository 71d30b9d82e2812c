import { userSchema } from '#http/user/profile.ts';
import { route } from '#http/edge/context.ts';

/** GET /user/me (spec part 4): the profile of the caller, out of the token's own object. */
export const me = route({
  method: 'GET',
  path: '/user/me',
  access: 'user-profile',
  summary: 'Read your profile',
  answer: { status: 200, schema: userSchema },
  refuses: [],
  handle: (context) => context.json(context.get('caller').user),
});
