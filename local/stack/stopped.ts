/**
 * Ends one part of a local stack. With `AsyncDisposableStack.adopt`, running parts end when a later
 * one does not start.
 */
export async function stopped(part: { readonly stop: () => Promise<unknown> }): Promise<void> {
  await part.stop();
}
