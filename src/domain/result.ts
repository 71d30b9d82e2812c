/**
 * A refusal is a value, not an exception: across a Durable Object call an error loses its class and its own
 * properties, and a refusal that nobody looks at must not type-check. Exceptions are for bugs.
 */
export type Result<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R };

export function accepted<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function refused<R>(refusal: R): { readonly ok: false; readonly refusal: R } {
  return { ok: false, refusal };
}

/** The end of an exhaustive switch. Reaching it at run time is a bug, at compile time an error. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
