/** Proves what bytes do. It is pure: the same intent and the same bytes have the same result. */
type Inspect<I extends object, R> = (intent: I, payload: string) => R;

/**
 * Returns the function with a cache of its last result for each intent, as long as the intent
 * exists. Composing, combining and assembling begin with the same proof, and so does a co-signer's
 * second check.
 */
export function memoised<I extends object, R>(inspect: Inspect<I, R>): Inspect<I, R> {
  const proofs = new WeakMap<I, { readonly payload: string; readonly proof: R }>();
  return (intent, payload) => {
    const last = proofs.get(intent);
    if (last?.payload === payload) return last.proof;
    const proof = inspect(intent, payload);
    proofs.set(intent, { payload, proof });
    return proof;
  };
}
