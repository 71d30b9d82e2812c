/**
 * Reports whether two strings are equal. It compares without an early exit, so the time does not
 * reveal how much of a secret's hash was right. Lengths are public.
 */
export function constantTimeEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
