import { env } from 'cloudflare:workers';

/**
 * Moves the clock of a Worker by CLOCK_OFFSET_MS. Stored approvals and sessions expire, so a golden
 * state is opened at the time of its recording. Entries import this module first.
 */

const Real = Date;

function offsetMs(): number {
  const { CLOCK_OFFSET_MS: text } = env as unknown as { readonly CLOCK_OFFSET_MS: string };
  return Number.parseInt(text, 10);
}

globalThis.Date = class extends Real {
  constructor(given: string | number | Date = Real.now() + offsetMs()) {
    super(given);
  }

  static override now(): number {
    return Real.now() + offsetMs();
  }
} as DateConstructor;

interface AlarmStorage {
  setAlarm: (atMs: number) => Promise<void>;
}

let areAlarmsMoved = false;

/** Has the platform, whose clock is not moved, run the alarms of all objects at the moved times. */
export function moveAlarms({ storage }: DurableObjectState): void {
  if (areAlarmsMoved) return;
  areAlarmsMoved = true;
  const prototype = Object.getPrototypeOf(storage) as AlarmStorage;
  const set = prototype.setAlarm;
  prototype.setAlarm = function (this: AlarmStorage, atMs) {
    return set.call(this, atMs - offsetMs());
  };
}
