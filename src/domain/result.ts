/**
 * The result of an operation. A refusal is a value, not an exception: an error loses its class and
 * its own properties across a Durable Object call, and code that ignores a refusal must not
 * type-check. Exceptions are for bugs.
 */
export type Result<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R };

export function accepted<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function refused<R>(refusal: R): { readonly ok: false; readonly refusal: R } {
  return { ok: false, refusal };
}

/** Ends an exhaustive switch. Reaching it is a bug at run time and an error at compile time. */
export function unreachable(value: never): never {
  throw new Error(`unknown value: ${JSON.stringify(value)}`);
}
