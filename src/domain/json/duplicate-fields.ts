import { pointerTo } from '#domain/json/json-pointer.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';

const MAX_FAULTS = 10;

/** An object or a list that is open at the current character. */
interface Container {
  /** The names of an object so far; null for a list. */
  readonly names: Set<string> | null;
  /** The name of the current field of an object. */
  name: string;
  /** The index of the current item of a list. */
  index: number;
  /** The next text is the name of a field. */
  expectsName: boolean;
}

/**
 * Returns a fault for every field that an object in a JSON body has twice, at most ten. Parsers
 * disagree which of the two counts, so a proxy or a log could show another request than the one
 * that takes effect. Names are compared after their escapes: `"\u0061"` is `"a"`. A body that is
 * not JSON has no fault here; the check of its schema refuses it.
 *
 * The scan keeps its own stack: 64 kB of brackets are deeper than the stack of any runtime.
 */
export function duplicateFields(body: string): readonly FieldFault[] {
  const faults = new Map<string, FieldFault>();
  const open: Container[] = [];
  for (let at = 0; at < body.length && faults.size < MAX_FAULTS; at++) {
    const inside = open.at(-1);
    switch (body.charAt(at)) {
      case '{':
        open.push({ names: new Set(), name: '', index: 0, expectsName: true });
        break;
      case '[':
        open.push({ names: null, name: '', index: 0, expectsName: false });
        break;
      case '}':
      case ']':
        open.pop();
        break;
      case ',':
        if (inside === undefined) break;
        inside.index += 1;
        inside.expectsName = inside.names !== null;
        break;
      case '"': {
        const end = endOfText(body, at);
        if (inside?.expectsName === true) {
          inside.name = nameOf(body.slice(at, end + 1));
          inside.expectsName = false;
          if (inside.names?.has(inside.name)) {
            const pointer = pointerTo(open.map(({ names, name, index }) => (names === null ? index : name)));
            faults.set(pointer, { pointer, code: 'duplicate-field', detail: 'The field must not occur twice.' });
          }
          inside.names?.add(inside.name);
        }
        at = end;
        break;
      }
      default:
    }
  }
  return faults.size > 0 && jsonIn(body) !== undefined ? [...faults.values()] : [];
}

/** Returns the index of the quotation mark that ends a text; the last index without one. */
function endOfText(body: string, start: number): number {
  for (let end = body.indexOf('"', start + 1); end !== -1; end = body.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (body[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return body.length;
}

/** Returns the name in its quotation marks without escapes; unchanged when it is not JSON. */
function nameOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  const name = jsonIn(quoted);
  return typeof name === 'string' ? name : quoted;
}
