import type { VaultId } from '#domain/id.ts';
import { logUnreadable } from '#store/document.ts';
import { unreadableText } from '#store/object-schema.ts';

/** A Durable Object could not be reached. The outcome is unknown, and the caller may try again. */
export class ObjectUnavailable extends Error {}

/**
 * Calls a Durable Object. The platform marks some failures as retryable on a new stub: the object
 * was moved or its code replaced. Every call made this way can be repeated safely. A call to an
 * overloaded object is never repeated.
 */
export async function callObject<S, P>(stub: () => S, call: (stub: S) => P): Promise<Awaited<P>> {
  try {
    return await call(stub());
  } catch (error) {
    if (!isFailure(error, 'retryable') || isFailure(error, 'overloaded')) throw asUnavailable(error);
  }
  try {
    return await call(stub());
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Returns the answer of a vault; `unread` when it cannot be reached, or its state not be read. */
export async function orUnread<T>(vaultId: VaultId, read: () => Promise<T>): Promise<T | 'unread'> {
  try {
    return await read();
  } catch (error) {
    if (unreadableText(error) !== null) logUnreadable(error, { vaultId });
    else if (!(error instanceof ObjectUnavailable)) throw error;
    return 'unread';
  }
}

function isFailure(error: unknown, kind: 'retryable' | 'overloaded'): boolean {
  return error instanceof Error && kind in error && (error as Error & Record<typeof kind, unknown>)[kind] === true;
}

/**
 * Returns `ObjectUnavailable` for a failure of the platform, and any other error unchanged: a bug
 * in an object stays a bug.
 */
function asUnavailable(error: unknown): unknown {
  const platform = isFailure(error, 'retryable') || isFailure(error, 'overloaded');
  return platform ? new ObjectUnavailable('a vault or token cannot be reached', { cause: error }) : error;
}
