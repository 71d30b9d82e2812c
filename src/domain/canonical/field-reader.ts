import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { CanonicalText } from '#domain/canonical/read-text.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { isDeceptive } from '#domain/visible-text.ts';

/** The bytes do not encode the expected document. The message is a sentence for a person. */
export class InvalidDocument extends Error {}

/**
 * Reads the fields of canonical bytes one after the other, each by its name; no field is skipped.
 * Throws `InvalidDocument` at the first field that is not the expected one. Co-signers, devices and
 * the approval page read all signed documents with it.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  readonly #text: CanonicalText;
  #next = 0;

  constructor(bytes: Uint8Array, domain: string) {
    this.#bytes = bytes;
    try {
      this.#text = readCanonical(bytes);
    } catch {
      throw new InvalidDocument('The bytes are malformed.');
    }
    if (this.#text.domain !== domain) throw new InvalidDocument(`The bytes are not of the type ${domain}.`);
  }

  /** Reports whether the next field has this name. */
  isAt(name: string): boolean {
    return this.#text.fields[this.#next]?.[0] === name;
  }

  optional(name: string): string | null {
    const field = this.#text.fields[this.#next];
    if (field?.[0] !== name) throw new InvalidDocument(`The bytes have no field ${name} at the expected position.`);
    this.#next += 1;
    return field[1];
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === null) throw new InvalidDocument(`The field ${name} must not be empty.`);
    return value;
  }

  /** Returns text that people read. Refuses characters by which it reads as something else. */
  plainText(name: string): string {
    return this.parsed(name, plain);
  }

  optionalPlainText(name: string): string | null {
    return this.optionalParsed(name, plain);
  }

  /**
   * Returns the parsed value of the field. The parser returns null for a value that it does not
   * accept.
   */
  parsed<T>(name: string, parse: (text: string) => T | null): T {
    const value = parse(this.text(name));
    if (value === null) throw malformed(name);
    return value;
  }

  optionalParsed<T>(name: string, parse: (text: string) => T | null): T | null {
    const text = this.optional(name);
    if (text === null) return null;
    const value = parse(text);
    if (value === null) throw malformed(name);
    return value;
  }

  oneOf<T extends string>(name: string, known: readonly T[]): T {
    return this.parsed(name, (text) => known.find((one) => one === text) ?? null);
  }

  /** Returns a whole number from 0 to 2^53 - 1. */
  count(name: string): number {
    return this.parsed(name, countOf);
  }

  optionalCount(name: string): number | null {
    return this.optionalParsed(name, countOf);
  }

  amount(name: string): Amount {
    return this.parsed(name, (text) => parseAmount(text));
  }

  optionalAmount(name: string): Amount | null {
    return this.optionalParsed(name, (text) => parseAmount(text));
  }

  /** Returns as many items as the field of this name states. */
  list<T>(name: string, most: number, item: () => T): T[] {
    const length = this.count(name);
    if (length > most) throw malformed(name);
    return Array.from({ length }, item);
  }

  /**
   * Throws unless all fields have been read and `again`, the encoding of what was read, equals the
   * bytes. A document then contains exactly what its reader shows.
   */
  end(again: Uint8Array): void {
    if (this.#next < this.#text.fields.length) {
      throw new InvalidDocument('The bytes contain a field that is not supported.');
    }
    const isSame = again.length === this.#bytes.length && again.every((byte, i) => byte === this.#bytes[i]);
    if (!isSame) throw new InvalidDocument('The bytes do not match the fields that were read from them.');
  }
}

/** Parses decimal digits without a leading zero. Returns null for any other text. */
function countOf(text: string): number | null {
  const count = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number.parseInt(text, 10) : null;
  return count !== null && Number.isSafeInteger(count) ? count : null;
}

function plain(text: string): string | null {
  return isDeceptive(text) ? null : text;
}

function malformed(name: string): InvalidDocument {
  return new InvalidDocument(`The field ${name} is malformed.`);
}
