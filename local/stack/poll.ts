/** Between two looks, unless somebody wants it otherwise. */
const POLL_MS = 25;

/** Looks until there is something, and gives it. Throws after the deadline, naming what was waited for. */
export async function pollUntil<T>(
  what: string,
  probe: () => Promise<T | null>,
  deadlineMs: number,
  pollMs: number = POLL_MS,
): Promise<T> {
  const endsAt = Date.now() + deadlineMs;
  for (;;) {
    const seen = await probe();
    if (seen !== null) return seen;
    if (Date.now() >= endsAt) throw new Error(`no ${what} within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
