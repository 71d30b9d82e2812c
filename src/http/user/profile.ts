import * as z from 'zod';

/** A person, as that person and operators see it. */
export const userSchema = z.strictObject({ id: z.string(), name: z.string(), email: z.string() }).meta({ id: 'User' });
