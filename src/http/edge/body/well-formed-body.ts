import { pointerTo } from '#domain/json/json-pointer.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';

/** A body is UTF-8, so a surrogate can only enter as an escape. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

const MAX_FAULTS = 10;

interface Position {
  readonly value: unknown;
  readonly name: string;
  /** Null for the body itself. */
  readonly parent: Position | null;
}

/**
 * Returns a fault for every text and every name in a JSON body that has a lone surrogate, at most
 * ten. Such text has no bytes in UTF-8: databases and digests write U+FFFD instead, so two
 * different texts would become equal. A body that is not JSON has no fault here; the check of its
 * schema refuses it.
 *
 * The walk keeps its own stack: 64 kB of brackets are deeper than the stack of any runtime.
 */
export function illFormedTexts(body: string): readonly FieldFault[] {
  if (!SURROGATE_ESCAPE.test(body)) return [];
  const faults: FieldFault[] = [];
  const open: Position[] = [{ value: jsonIn(body), name: '', parent: null }];
  for (let position = open.pop(); position !== undefined && faults.length < MAX_FAULTS; position = open.pop()) {
    const { value } = position;
    if (typeof value === 'string' && !value.isWellFormed())
      faults.push(faultAt(position, 'Must be well-formed Unicode.'));
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value).toReversed()) {
      const child = { value: inner as unknown, name, parent: position };
      if (!name.isWellFormed()) faults.push(faultAt(child, 'The field name must be well-formed Unicode.'));
      open.push(child);
    }
  }
  return faults.slice(0, MAX_FAULTS);
}

function faultAt(position: Position, detail: string): FieldFault {
  const path: string[] = [];
  for (let at: Position = position; at.parent !== null; at = at.parent) path.push(at.name);
  return { pointer: pointerTo(path.toReversed()), code: 'ill-formed-text', detail };
}
