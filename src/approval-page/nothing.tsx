import type { ComponentChildren } from 'preact';
import { InvalidRequest } from '#approval-page/page-request.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';

/** Shows that there is nothing to approve, and the reason. */
export function Nothing({ why, children }: { readonly why: string; readonly children?: ComponentChildren }) {
  return (
    <section class="refusal" role="alert">
      <h1>Nothing to approve</h1>
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
