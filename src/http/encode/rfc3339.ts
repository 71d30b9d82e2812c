/** RFC 3339 in UTC, to the millisecond. */
export function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}
