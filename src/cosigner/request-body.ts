/**
 * Reports whether the declared length of a body is within `maxBytes`. A chunked body declares none.
 */
export function declaresAtMost({ headers }: Request, maxBytes: number): boolean {
  const claimed = headers.get('content-length');
  if (claimed === null) return true;
  return /^[0-9]{1,15}$/.test(claimed) && Number.parseInt(claimed, 10) <= maxBytes;
}
