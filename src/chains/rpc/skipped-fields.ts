/**
 * The longest name of a skipped field. The text of a longer string is not compared, and not stored.
 */
const MAX_NAME_BYTES = 32;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const NULL = new TextEncoder().encode('null');

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const opens = (byte: number) => byte === 0x5b || byte === 0x7b;
const closes = (byte: number) => byte === 0x5d || byte === 0x7d;

/**
 * Replaces the values of some fields of a JSON text by null while its bytes arrive, at any depth.
 * A value costs some nanoseconds a byte, whatever is in it, and a parsed one costs microseconds for
 * each of its parts: a stranger decides what a witness has. It checks no syntax: the parser after
 * it does.
 */
export class SkippedFields {
  readonly #names: ReadonlySet<string>;
  #isText = false;
  #isEscaped = false;
  /** The bytes of the text that began last, while it may be a name. */
  readonly #text = new Uint8Array(MAX_NAME_BYTES);
  #length = 0;
  /** The text that ended last, and may be the name of the next value. */
  #name: string | null = null;
  /** From the colon after a skipped name to the end of its value. */
  #isSkipping = false;
  #depth = 0;

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** Returns the bytes of a chunk that are kept. */
  write(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
    // A name of one byte with its quotes and its colon has as many bytes as the null after it.
    const kept = new Uint8Array(2 * chunk.length + NULL.length);
    let end = 0;
    for (const byte of chunk) {
      if (!this.#isSkipping) {
        kept[end++] = byte;
        if (!this.#beginsSkip(byte)) continue;
        kept.set(NULL, end);
        end += NULL.length;
      } else if (this.#endsSkip(byte)) kept[end++] = byte;
    }
    return kept.subarray(0, end);
  }

  /** Reads a byte outside of a skipped value. Reports whether a skipped value follows. */
  #beginsSkip(byte: number): boolean {
    if (this.#isText) {
      this.#readText(byte);
      if (!this.#isText) this.#name = this.#textOrNull();
      return false;
    }
    if (byte === QUOTE) this.#beginText(0);
    else if (byte === COLON && this.#name !== null && this.#names.has(this.#name)) {
      this.#isSkipping = true;
      this.#depth = 0;
      this.#name = null;
      return true;
    } else if (!isSpace(byte)) this.#name = null;
    return false;
  }

  /** Reads a byte of a skipped value. Reports whether it is the first one after the value. */
  #endsSkip(byte: number): boolean {
    if (this.#isText) {
      this.#readText(byte);
      return false;
    }
    if (byte === QUOTE) this.#beginText(MAX_NAME_BYTES + 1);
    else if (opens(byte)) this.#depth += 1;
    else if (this.#depth > 0) this.#depth -= closes(byte) ? 1 : 0;
    else if (byte === COMMA || closes(byte)) {
      this.#isSkipping = false;
      return true;
    }
    return false;
  }

  /** @param length above the longest name for a text that is no name */
  #beginText(length: number): void {
    this.#isText = true;
    this.#length = length;
    this.#name = null;
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isText = false;
      return;
    }
    if (this.#length < MAX_NAME_BYTES) this.#text[this.#length] = byte;
    this.#length += 1;
  }

  #textOrNull(): string | null {
    return this.#length > MAX_NAME_BYTES ? null : new TextDecoder().decode(this.#text.subarray(0, this.#length));
  }
}
