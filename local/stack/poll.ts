/**
 * The default time between two probes. At 25 ms the probes themselves took 6 % of the CPU of the
 * end-to-end tests.
 */
const POLL_MS = 60;

/** The additional time of the last probe after the deadline. */
const LAST_PROBE_MS = 10_000;

/**
 * Probes until there is a result, and returns it. Throws after the deadline with the name of the
 * missing result, also when a probe itself does not end.
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
