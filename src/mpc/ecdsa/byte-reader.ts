/**
 * Reads the fields of a message whose length was checked before. Every field is a copy, since the
 * sender's buffer may change.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bytes(length: number): Uint8Array {
    const field = this.#bytes.slice(this.#at, this.#at + length);
    if (field.length !== length) throw new Error('read past the end of a message: its length was not checked');
    this.#at += length;
    return field;
  }

  /** Returns little-endian words. */
  words(count: number): Int32Array {
    return new Int32Array(this.bytes(4 * count).buffer);
  }
}

/** Returns the little-endian bytes of words, as messages encode them. */
export function wireBytes(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
