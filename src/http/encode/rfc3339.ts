/** Returns a time as RFC 3339 in UTC, with milliseconds. */
export function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}
