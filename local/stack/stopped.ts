/** Ends one part of a local stack: with `AsyncDisposableStack.adopt`, parts that run end when something after them does not start. */
export async function stopped(part: { readonly stop: () => Promise<unknown> }): Promise<void> {
  await part.stop();
}
