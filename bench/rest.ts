import { readdirSync, readFileSync } from 'node:fs';

const WINDOW_MS = 100;
/** So many windows without work in a row are rest: a queue with more than a batch in it waits for less. */
const QUIET_WINDOWS = 3;
/** Of 10 ms: what an idle runtime takes in a window. */
const IDLE_TICKS = 1;
const DEADLINE_MS = 180_000;

/**
 * Waits until the runtimes that this process has started have nothing to do any more, which is how a block's notices, messages and alarms
 * come to their end. Gives for how many milliseconds they still worked. Throws for one that never comes to rest. Where the system
 * does not tell what its processes take (Linux does) it waits for nothing.
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

/** Of processor time, by all runtimes of this process together; null where nobody can tell. */
function ticksTaken(): number | null {
  try {
    const taken = readdirSync('/proc').flatMap((pid) => (/^[0-9]+$/.test(pid) ? ticksOf(pid) : []));
    return taken.reduce((sum, one) => sum + one, 0);
  } catch {
    return null;
  }
}

/** Empty for a process that is no runtime of ours, or is gone. */
function ticksOf(pid: string): readonly number[] {
  try {
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    // proc(5): after the name come state and parent; user and system time are the twelfth and thirteenth.
    const fields = rest.split(' ');
    const [parent, user = '', system = ''] = [fields[1], fields[11], fields[12]];
    if (name !== 'workerd' || parent !== String(process.pid)) return [];
    return [Number.parseInt(user, 10) + Number.parseInt(system, 10)];
  } catch {
    return [];
  }
}
