import type { HttpContext } from '#http/encode/context.ts';
import { userSchema } from '#http/user/profile.ts';
import { route } from '#http/edge/route.ts';

/** GET /user/me: returns the profile of the caller, as the object of the credential has it. */
export const me = route({
  method: 'GET',
  path: '/user/me',
  access: 'user-profile',
  summary: 'Read your profile',
  answer: { status: 200, schema: userSchema },
  refuses: [],
  handle: (context: HttpContext) => context.json(context.get('caller').user),
});
