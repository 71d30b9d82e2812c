/**
 * Returns a text that a stranger has written on a chain. It is cut to a length, and loses
 * characters that are not visible or reorder others; null when nothing is left.
 *
 * @param longest in code points
 */
export function untrustedText(bytes: Uint8Array, longest: number): string | null {
  const text = new TextDecoder().decode(bytes);
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return plain === '' ? null : [...plain].slice(0, longest).join('');
}
