/** Returns the declared length of a body in bytes, or null for a body in chunks. */
export function declaredLength({ headers }: Request): number | null {
  const text = headers.get('content-length');
  if (text === null || headers.has('transfer-encoding')) return null;
  return /^[0-9]{1,15}$/.test(text) ? Number.parseInt(text, 10) : Number.MAX_SAFE_INTEGER;
}
