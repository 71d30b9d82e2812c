import type { ComponentChildren } from 'preact';
import { InvalidRequest } from '#review/invalid-request.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';

/** Shows that there is nothing to approve or to read, and the reason. */
export function Nothing(props: {
  readonly why: string;
  readonly title?: string;
  readonly children?: ComponentChildren;
}) {
  const { why, title = 'Nothing to approve', children } = props;
  return (
    <section class="refusal" role="alert">
      <h1>{title}</h1>
      <p>{why}</p>
      {children}
    </section>
  );
}

/** Returns the reason why a request cannot be approved, as a sentence for the person. */
export function reasonOf(error: unknown): string {
  if (error instanceof InvalidRequest || error instanceof InvalidDocument) return error.message;
  if (!(error instanceof DOMException)) return 'This page could not read the request.';
  // Web Authentication Level 2, part 5.1.3: a credential of `excludeCredentials` is there.
  if (error.name === 'InvalidStateError') return 'This authenticator already has a passkey of yours for this vault.';
  return 'The passkey did not sign.';
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** Returns the result of a reader, or the reason why it failed as a sentence for the person. */
export function attempt<T>(read: () => T): Attempt<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    return { ok: false, why: reasonOf(error) };
  }
}
