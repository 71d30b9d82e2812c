import { boundedFetch } from '#chains/rpc/bounded-fetch.ts';

const BOUNDS = { timeoutMs: 10_000, maxBytes: 64 * 1024 };

/** The outcome of a call to a service of the operator. */
export interface CallOutcome {
  /** Null without an answer. */
  readonly status: number | null;
  /** Why the call did not succeed, without the URL; null when it did. */
  readonly fault: string | null;
}

/** Calls a service of the operator once. Its URL is often a password, and is in no outcome. */
export async function outgoingCall(url: string, request: RequestInit): Promise<CallOutcome> {
  const answer = await boundedFetch(url, request, BOUNDS);
  if ('fault' in answer) return { status: null, fault: answer.fault };
  const { status } = answer;
  return { status, fault: status >= 300 ? `HTTP ${status}` : null };
}
