/**
 * Reports whether a JSON value has fields to read. Arrays pass, because they have none of the
 * requested fields.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
