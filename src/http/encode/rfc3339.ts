/** Returns a time as RFC 3339 in UTC, with milliseconds. */
export function rfc3339(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** Returns a time that may be absent. */
export function rfc3339OrNull(atMs: number | null): string | null {
  return atMs === null ? null : rfc3339(atMs);
}
