/** A name may be as long as a body, and an answer repeats it. */
const MAX_PART_LENGTH = 100;

/** Deeper than any schema. What lies deeper is named by the part of the body that holds it. */
const MAX_PARTS = 32;

/** Returns the place of a value in a body (RFC 6901), shortened and well-formed whatever names the body has. */
export function pointerTo(path: readonly PropertyKey[]): string {
  const parts = path.slice(0, MAX_PARTS).map((part) => {
    const text = String(part).slice(0, MAX_PART_LENGTH).toWellFormed();
    return `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  });
  return parts.join('') || '/';
}
