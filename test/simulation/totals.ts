import type { Outcome } from './history.ts';

/** The sums of the outcomes of several histories. */
export interface Sum {
  histories: number;
  bad: number;
  events: number;
  calls: number;
  faults: number;
  crashes: number;
  payments: number;
  signatures: number;
  /**
   * The simulated time in milliseconds during which the service only waited for a resend timer of
   * the outbox.
   */
  resendWaitMs: number;
}

export function sumOf(): Sum {
  return {
    histories: 0,
    bad: 0,
    events: 0,
    calls: 0,
    faults: 0,
    crashes: 0,
    payments: 0,
    signatures: 0,
    resendWaitMs: 0,
  };
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
  sum.resendWaitMs += outcome.resendWaitMs;
}

export function textOf({ histories, bad, events, faults, crashes, payments, resendWaitMs }: Sum): string {
  const resends = `${Math.round(resendWaitMs / 1000)} s waited for resends alone`;
  const what = `${events} events, ${faults} faults, ${crashes} deaths, ${payments} payments, ${resends}`;
  return `${histories} histories, ${bad} bad: ${what}`;
}
