/** What drizzle says of a query, with every value of it; and what D1 says by itself, of a batch or out of another object. */
const DRIZZLE = /^Failed query\b/;
const D1 = /^D1_ERROR\b/;

/** D1 could not be asked, or would not: nothing is known about what was done. By its words alone, for an error that comes out of an object has no more. */
export function isQueryFault(error: unknown): boolean {
  return error instanceof Error && (DRIZZLE.test(error.message) || D1.test(error.message));
}

/**
 * What a log may say of an error. Drizzle's message of a failed query holds every value of it, and with them what people have sent; what the
 * database itself has said is its cause, and names columns and no values.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error) || !DRIZZLE.test(error.message)) return String(error);
  return `query failed: ${error.cause instanceof Error ? error.cause.message : 'no cause is told'}`;
}
