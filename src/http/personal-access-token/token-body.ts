import * as z from 'zod';
import { plainText } from '#http/edge/plain-text.ts';

/** What an owner says about a token, at creation and afterwards. */
export const tokenName = plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.');

/** Unix seconds, up to the year 9999: beyond it dates have no common spelling. */
export const tokenExpiry = z.int().positive().max(253_402_300_799);
