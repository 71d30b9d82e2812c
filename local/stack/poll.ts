/** Between two probes by default. At 25 ms the probes themselves took 6 % of the CPU of the tests from outside. */
const POLL_MS = 60;

/** The last probe gets so much beyond the deadline. */
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
  const failure = `No ${what} within ${deadlineMs} ms`;
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<never>((_, reject) => {
    const hangs = () => reject(new Error(`${failure}: the last probe has not ended`));
    timer = setTimeout(hangs, deadlineMs + LAST_PROBE_MS);
  });
  const endsAt = Date.now() + deadlineMs;
  const found = async () => {
    for (;;) {
      const seen = await probe();
      if (seen !== null) return seen;
      if (Date.now() >= endsAt) throw new Error(failure);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  };
  return Promise.race([found(), hanging]).finally(() => clearTimeout(timer));
}
