/** The expiry that a person typed for a token, in Unix seconds; null for none. */
export type TypedExpiry = { readonly expiresAt: number | null } | { readonly fault: string };

/** The last year that every notation of dates has. */
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/**
 * Returns the end of a day in the reader's time zone. A day that is no date is a fault and not a
 * token without an expiry: the JSON of an invalid number is null.
 *
 * @param day the value of a date input, empty for no expiry
 */
export function typedExpiry(day: string, nowMs: number): TypedExpiry {
  if (day === '') return { expiresAt: null };
  const endMs = DAY.test(day) ? new Date(`${day}T23:59:59`).getTime() : Number.NaN;
  if (Number.isNaN(endMs)) return { fault: 'Expiry: Enter a date up to the year 9999.' };
  if (endMs <= nowMs) return { fault: 'Expiry: Enter a date in the future.' };
  return { expiresAt: Math.floor(endMs / 1000) };
}

/** Reports whether a token has expired. */
export function isExpired({ expiresAt }: { readonly expiresAt: number | null }, nowMs: number): boolean {
  return expiresAt !== null && expiresAt * 1000 <= nowMs;
}
