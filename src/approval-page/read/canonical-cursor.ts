import { equalBytes } from '@noble/curves/utils.js';
import type { CanonicalText } from '#domain/canonical/read-text.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';

/** The page has nothing to approve. The message is for the person who reads it. */
export class InvalidRequest extends Error {}

/** Returns the bytes of lower-case hex. Throws for any other text. */
export function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  if (!/^(?:[0-9a-f]{2})+$/.test(hex)) throw new InvalidRequest('The bytes to approve are not lower-case hex.');
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/**
 * Throws unless `again` equals the bytes that were read. The page then shows everything that the
 * bytes contain.
 */
export function assertSameBytes(bytes: Uint8Array, again: Uint8Array): void {
  if (!equalBytes(bytes, again)) {
    throw new InvalidRequest('The bytes to approve do not match the fields that this page read from them.');
  }
}

/**
 * Reads the fields of canonical bytes one after the other. Throws at each field that is not the
 * expected one.
 */
export class CanonicalCursor {
  readonly #text: CanonicalText;
  #next = 0;

  constructor(bytes: Uint8Array, domain: string) {
    try {
      this.#text = readCanonical(bytes);
    } catch {
      throw new InvalidRequest('The bytes to approve are malformed.');
    }
    if (this.#text.domain !== domain) {
      throw new InvalidRequest(`The bytes to approve are not of the type ${domain}.`);
    }
  }

  /** Reports whether the next field has this name. */
  isAt(name: string): boolean {
    return this.#text.fields[this.#next]?.[0] === name;
  }

  optional(name: string): string | null {
    const field = this.#text.fields[this.#next];
    if (field?.[0] !== name) {
      throw new InvalidRequest(`The bytes to approve have no field ${name} at the expected position.`);
    }
    this.#next += 1;
    return field[1];
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === null) throw new InvalidRequest(`The field ${name} of the bytes to approve is empty.`);
    return value;
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

  end(): void {
    if (this.#next < this.#text.fields.length) {
      throw new InvalidRequest('The bytes to approve contain a field that this page does not support.');
    }
  }
}

/** Parses decimal digits without a leading zero. Returns null for any other text. */
function countOf(text: string): number | null {
  const count = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number.parseInt(text, 10) : null;
  return count !== null && Number.isSafeInteger(count) ? count : null;
}

export function hashOf(text: string): string | null {
  return /^[0-9a-f]{64}$/.test(text) ? text : null;
}

/** Returns the text when it is a CAIP-2 chain id, otherwise null. */
export function chainOf(text: string): string | null {
  return /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(text) ? text : null;
}

/**
 * Returns the text when it has only the letters and digits of addresses. No such letter is
 * invisible or turns the text around on a screen.
 */
export function addressOf(text: string): string | null {
  return /^[0-9A-Za-z]{20,100}$/.test(text) ? text : null;
}

function malformed(name: string): InvalidRequest {
  return new InvalidRequest(`The field ${name} of the bytes to approve is malformed.`);
}
