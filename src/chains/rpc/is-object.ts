/** Whether a JSON value has fields to read. Arrays pass: they have none of the fields that are asked for. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
