/** D1 could not be asked, or would not: nothing is known about what was done. */
export function isQueryFault(error: unknown): error is Error & { readonly query: string } {
  return error instanceof Error && 'query' in error && 'params' in error;
}

/**
 * What a log may say of an error. The message of a failed query holds every value of it, and with them what people have sent; what the
 * database itself has said is its cause, and names columns and no values.
 */
export function errorText(error: unknown): string {
  if (!isQueryFault(error)) return String(error);
  return `query failed: ${error.cause instanceof Error ? error.cause.message : 'no cause is told'}`;
}
