import { readdirSync, readFileSync } from 'node:fs';

const WINDOW_MS = 100;
/**
 * This many consecutive windows without work mean rest: a queue with more than a batch in it waits
 * for less.
 */
const QUIET_WINDOWS = 3;
/** In units of 10 ms: the time that an idle runtime takes in a window. */
const IDLE_TICKS = 1;
const DEADLINE_MS = 180_000;

/**
 * Waits until the runtimes of this process are idle, so that the notifications, messages and alarms
 * of a block are completed. Returns for how many milliseconds they still worked. Throws for a
 * runtime that never becomes idle. On a system that does not report process times (Linux does), it
 * does not wait.
 */
export async function untilRest(): Promise<number> {
  const begun = performance.now();
  let [before, worked, quiet] = [ticksTaken(), 0, 0];
  while (before !== null && quiet < QUIET_WINDOWS) {
    if (performance.now() - begun > DEADLINE_MS) throw new Error('the runtime does not come to rest');
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    const now = ticksTaken();
    const isQuiet = now === null || now - before <= IDLE_TICKS;
    quiet = isQuiet ? quiet + 1 : 0;
    if (!isQuiet) worked = performance.now() - begun;
    before = now;
  }
  return worked;
}

/** Returns the processor time of all runtimes of this process, or null when it is unknown. */
function ticksTaken(): number | null {
  try {
    const taken = readdirSync('/proc').flatMap((pid) => (/^[0-9]+$/.test(pid) ? ticksOf(pid) : []));
    return taken.reduce((sum, one) => sum + one, 0);
  } catch {
    return null;
  }
}

/** Returns an empty list for a process that is not a runtime of this process, or has ended. */
function ticksOf(pid: string): readonly number[] {
  try {
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    // proc(5): after the name come state and parent; user and system time are the twelfth and
    // thirteenth.
    const fields = rest.split(' ');
    const [parent, user = '', system = ''] = [fields[1], fields[11], fields[12]];
    if (name !== 'workerd' || parent !== String(process.pid)) return [];
    return [Number.parseInt(user, 10) + Number.parseInt(system, 10)];
  } catch {
    return [];
  }
}
