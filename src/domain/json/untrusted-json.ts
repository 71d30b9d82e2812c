/**
 * Reads JSON of any origin: a request, the answer of an RPC node, a cookie, a stored row. Each
 * caller decides what a text that is not JSON means for it.
 */

/**
 * Returns the value of a JSON text, or undefined for any other text. No JSON text has the value
 * undefined, so a caller can distinguish a text that is not JSON from the text `null`. It never
 * throws: the message of a parser quotes the text, which can be a secret.
 *
 * The value is what `JSON.parse` returns. Of a name that occurs twice, the last value counts.
 * `__proto__` is a field like any other and changes no prototype. A number is rounded to a double,
 * and 1e400 is Infinity. A text can have lone surrogates.
 */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Reports whether a parsed value is a JSON object: neither null nor a list. A field that the object
 * lacks can be inherited: `constructor` and `toString` are on every object.
 */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
