/** RFC 3339 in UTC, to the millisecond. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}
