/**
 * A container whose content can be taken once. It holds round states, because a second run of a
 * round on one state reveals the private key to the peer: two digests under one nonce
 * (test/mpc/ecdsa/attacks.test.ts).
 *
 * The content is in a private field: structuredClone, JSON and a spread lose it, so a COPY of a
 * state is useless too (a plain object of nonces would be accepted twice). JavaScript runs a round
 * to its end, so two concurrent calls cannot both pass `take`.
 */
export class SingleUse<T> {
  #content: { readonly value: T } | null;

  constructor(value: T) {
    this.#content = { value };
  }

  /** Returns the content, once. A second call is a bug of the caller and throws. */
  take(): T {
    const content = this.#content;
    this.#content = null;
    if (content === null) throw new Error('this round state was already used: abort the session, never resume it');
    return content.value;
  }

  toJSON(): string {
    return '[secret]';
  }
}
