import * as z from 'zod';

/** The profile of a user, as the user and operators receive it. */
export const userSchema = z.strictObject({ id: z.string(), name: z.string(), email: z.string() }).meta({ id: 'User' });
