/**
 * The beginning of drizzle's message of a query, which contains every value; and of D1's own
 * message, for a batch or from another object.
 */
const DRIZZLE = /^Failed query\b/;
const D1 = /^D1_ERROR\b/;

/**
 * Reports whether D1 failed or was unreachable, so that the effect of a query is unknown. It checks
 * only the message, because an error that comes from an object has nothing else.
 */
export function isQueryFault(error: unknown): boolean {
  return error instanceof Error && (DRIZZLE.test(error.message) || D1.test(error.message));
}

/**
 * Returns the text of an error that may be logged. Drizzle's message of a failed query contains
 * every value and thus users' data. Its cause is the database's own message, which names columns
 * and no values.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error) || !DRIZZLE.test(error.message)) return String(error);
  return `query failed: ${error.cause instanceof Error ? error.cause.message : 'no cause is given'}`;
}
