/** Between two probes by default. More often costs CPU that what is waited for needs: at 25 ms the tests from outside took 6 % more. */
const POLL_MS = 60;

/** The last probe gets so much, however late it began. */
const LAST_PROBE_MS = 10_000;

/**
 * Probes until there is something, and gives it. Throws after the deadline, naming what was waited for, also when a probe itself
 * does not end.
 */
export async function pollUntil<T>(
  what: string,
  probe: () => Promise<T | null>,
  deadlineMs: number,
  pollMs: number = POLL_MS,
): Promise<T> {
  const endsAt = Date.now() + deadlineMs;
  for (;;) {
    const seen = await endedBy(endsAt, probe());
    if (seen === HANGS) throw new Error(`no ${what} within ${deadlineMs} ms: the last probe has not ended`);
    if (seen !== null) return seen;
    if (Date.now() >= endsAt) throw new Error(`no ${what} within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

const HANGS = Symbol('hangs');

async function endedBy<T>(endsAt: number, probed: Promise<T>): Promise<T | typeof HANGS> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof HANGS>((resolve) => {
    timer = setTimeout(() => resolve(HANGS), Math.max(endsAt - Date.now(), LAST_PROBE_MS));
  });
  return Promise.race([probed, late]).finally(() => clearTimeout(timer));
}
