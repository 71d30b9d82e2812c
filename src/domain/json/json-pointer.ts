/** A name can be as long as a body, and the response repeats it. */
const MAX_PART_LENGTH = 100;

/**
 * More levels than any schema has. A deeper value gets the pointer of the enclosing part at this
 * depth.
 */
const MAX_PARTS = 32;

/**
 * Returns the JSON pointer of a value in a body (RFC 6901). It is shortened and well-formed for any
 * names in the body.
 */
export function pointerTo(path: readonly PropertyKey[]): string {
  const parts = path.slice(0, MAX_PARTS).map((part) => {
    const text = String(part).slice(0, MAX_PART_LENGTH).toWellFormed();
    return `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  });
  return parts.join('') || '/';
}
