import type { Outcome } from './history.ts';

/** What histories came to, added up. */
export interface Sum {
  histories: number;
  bad: number;
  events: number;
  calls: number;
  faults: number;
  crashes: number;
  payments: number;
  signatures: number;
}

export function sumOf(): Sum {
  return { histories: 0, bad: 0, events: 0, calls: 0, faults: 0, crashes: 0, payments: 0, signatures: 0 };
}

export function addTo(sum: Sum, outcome: Outcome): void {
  sum.histories += 1;
  sum.bad += outcome.faults.length > 0 ? 1 : 0;
  sum.events += outcome.events;
  sum.calls += outcome.calls;
  sum.faults += outcome.injected;
  sum.crashes += outcome.crashes;
  sum.payments += outcome.paid;
  sum.signatures += outcome.signatures;
}

export function textOf({ histories, bad, events, faults, crashes, payments }: Sum): string {
  const what = `${events} events, ${faults} faults, ${crashes} deaths, ${payments} payments`;
  return `${histories} histories, ${bad} bad: ${what}`;
}
