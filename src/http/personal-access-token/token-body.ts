import * as z from 'zod';
import { plainText } from '#http/encode/plain-text.ts';

/** The name that the owner gives an access token. */
export const tokenName = plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.');

/** Unix seconds, up to the year 9999: later dates have no common notation. */
export const tokenExpiry = z.int().positive().max(253_402_300_799);
