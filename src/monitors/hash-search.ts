/** The most hashes that one delivery in unknown forms gives. Each costs calls of RPC nodes. */
const MAX_FOUND = 1_000;
/** The most values of one delivery that are searched. One of 1 MiB can have half a million. */
const MAX_VALUES = 50_000;
/** The deepest value that is searched. */
const MAX_DEPTH = 32;

/** Names of values with the form of a hash that do not identify a transaction. */
const OTHER_VALUE =
  /^(?:data|input|nonce|salt|value|r|s|logsBloom|topics?\d?|storageKeys|\w*root|\w*(?:block|parent|uncle|mix|prev|previous|code)_?\w*hash|sha3Uncles)$/i;
/** The field `hash` of an object with such a name is the hash of a block. */
const BLOCK = /^(?:blocks?|parent|header)$/i;

interface Visit {
  readonly value: unknown;
  /** The name of the field; that of the list for an element of a list. */
  readonly name: string;
  /** The name of the field with the object. */
  readonly owner: string;
  readonly depth: number;
}

/**
 * Searches values of an unknown form for texts that satisfy a test, such as the form of a
 * transaction hash. All searches of one delivery share the bounds, so that their cost does not grow
 * with the number of rows.
 */
export class HashSearch {
  /** Reports whether a bound has ended a search, so that values may be missing. */
  isCut = false;
  private valuesLeft = MAX_VALUES;
  private readonly found = new Set<string>();

  /** Returns the texts, those of the least depth first. */
  textsIn(root: unknown, isSought: (text: string) => boolean): readonly string[] {
    const texts: string[] = [];
    const open: Visit[] = [{ value: root, name: '', owner: '', depth: 0 }];
    // The list grows while it is read; recursion would end with a full stack.
    for (const visit of open) {
      const { value, name, owner } = visit;
      if (typeof value === 'string' && isSought(value) && !isOther(name, owner)) {
        if (this.found.size === MAX_FOUND && !this.found.has(value)) {
          this.isCut = true;
          return texts;
        }
        this.found.add(value);
        texts.push(value);
      }
      this.open(open, visit);
    }
    return texts;
  }

  private open(open: Visit[], { value, name, owner, depth }: Visit): void {
    if (typeof value !== 'object' || value === null) return;
    const isList = Array.isArray(value);
    // Names of a large object are listed once; the elements of a list are not copied.
    const names = isList ? null : Object.keys(value);
    const count = names?.length ?? (value as readonly unknown[]).length;
    if (count > 0 && depth === MAX_DEPTH) this.isCut = true;
    if (depth === MAX_DEPTH) return;
    for (let i = 0; i < count; i++) {
      if (this.valuesLeft === 0) {
        this.isCut = true;
        return;
      }
      this.valuesLeft -= 1;
      const key = names?.[i];
      open.push(
        key === undefined
          ? { value: (value as readonly unknown[])[i], name, owner, depth: depth + 1 }
          : { value: (value as Readonly<Record<string, unknown>>)[key], name: key, owner: name, depth: depth + 1 },
      );
    }
  }
}

function isOther(name: string, owner: string): boolean {
  return OTHER_VALUE.test(name) || (name.toLowerCase() === 'hash' && BLOCK.test(owner));
}
