/** An object could not be asked: nothing is known about what was done, and the caller may try again. */
export class ObjectUnavailable extends Error {}

/**
 * Asks a Durable Object. The platform says of some failures that they are worth another try on a new stub: the object was
 * moved or its code replaced. Everything asked this way can be asked twice; an overloaded object is never asked again.
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

function isFailure(error: unknown, kind: 'retryable' | 'overloaded'): boolean {
  return error instanceof Error && kind in error && (error as Error & Record<typeof kind, unknown>)[kind] === true;
}

/** Failures of the platform are unavailability; a bug in an object stays a bug. */
function asUnavailable(error: unknown): unknown {
  const platform = isFailure(error, 'retryable') || isFailure(error, 'overloaded');
  return platform ? new ObjectUnavailable('a vault or token cannot be reached', { cause: error }) : error;
}
