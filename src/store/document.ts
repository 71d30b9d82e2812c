import * as z from 'zod';
import { STATE_UNREADABLE } from '#domain/operations/alert.ts';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import { UnreadableState, unreadableText } from '#store/object-schema.ts';

/** The text of a stored document of one kind, and back. */
export interface Codec<T> {
  readonly encode: (value: T) => string;
  /** Throws `UnreadableState` for a text that is no such document, without any value of it. */
  readonly decode: (text: string) => T;
}

/**
 * Returns the codec of a kind of document. Its text is JSON with the version `v` of the kind. A
 * later version needs a migration that rewrites the stored documents (`ObjectSchema`), so only one
 * version is read.
 */
export function documentCodec<T extends object>(name: string, schema: z.ZodType<T>, version = 1): Codec<T> {
  return {
    // The version is put into the text: a copy of the object would cost as much as its text.
    encode: (value) => `{"v":${version},${JSON.stringify(value).slice(1)}`,
    decode: (text) => {
      const stored = objectIn(name, text);
      const { v } = stored;
      if (v !== version) {
        throw new UnreadableState(
          `a stored ${name} has version ${String(v)}; this release cannot read it, only version ${version}`,
        );
      }
      // The schema leaves the version out, as every field that it lacks.
      const read = schema.safeParse(stored);
      if (read.success) return read.data;
      const at = read.error.issues[0]?.path.join('.') ?? '';
      throw new UnreadableState(`a stored ${name} is damaged${at === '' ? '' : ` at ${at}`}`);
    },
  };
}

/**
 * The characters of the documents that a remembering codec keeps in an isolate: some hundred
 * transactions. A number of documents would not limit the memory, because calldata can be large.
 */
const REMEMBERED_CHARACTERS = 1_000_000;

/**
 * Returns a codec that keeps the last documents by their text: a record is read again soon after it
 * was written, and a schema costs far more than `JSON.parse` in Workers, where no code can be
 * generated. Values are never changed, so readers may share one.
 */
export function remembering<T>(codec: Codec<T>, most = REMEMBERED_CHARACTERS): Codec<T> {
  const last = new Map<string, T>();
  let characters = 0;
  const keep = (text: string, value: T) => {
    // A text that is set again becomes the newest.
    if (!last.delete(text)) characters += text.length;
    last.set(text, value);
    for (const oldest of last.keys()) {
      if (characters <= most) return;
      last.delete(oldest);
      characters -= oldest.length;
    }
  };
  return {
    encode: (value) => {
      const text = codec.encode(value);
      keep(text, value);
      return text;
    },
    decode: (text) => {
      const value = last.get(text) ?? codec.decode(text);
      keep(text, value);
      return value;
    },
  };
}

/**
 * Returns the result of reading one record among others, or null when its state is unreadable: that
 * is logged with its ids, and the others go on.
 */
export function readableOrNull<T>(read: () => T, ids: Readonly<Record<string, unknown>> = {}): T | null {
  try {
    return read();
  } catch (error) {
    logUnreadable(error, ids);
    return null;
  }
}

/**
 * Logs the alert that state is unreadable, with the ids of what has it. Returns the text of the
 * error. Throws every other error again.
 */
export function logUnreadable(error: unknown, ids: Readonly<Record<string, unknown>> = {}): string {
  const detail = unreadableText(error);
  if (detail === null) throw error;
  console.error(JSON.stringify({ event: 'alert', code: STATE_UNREADABLE, detail, ...ids }));
  return detail;
}

function objectIn(name: string, text: string): Readonly<Record<string, unknown>> {
  const value = jsonIn(text);
  if (!isJsonObject(value)) throw new UnreadableState(`a stored ${name} is damaged`);
  return value;
}

/**
 * Returns the schema of an object with the fields of `T`, optional ones included: a field that the
 * schema lacks would be lost. Further fields of a stored object are ignored.
 */
export function exactly<T>() {
  return <S extends Readonly<Record<keyof T, z.ZodType>>>(
    shape: S & Readonly<Record<Exclude<keyof S, keyof T>, never>>,
  ) => z.object(shape);
}

/**
 * Returns the schema of a text that a parser returns unchanged. This one check costs half of a type
 * and a transformation.
 */
export function parsed<T extends string>(parse: (text: string) => T | null) {
  return z.custom<T>((value) => typeof value === 'string' && parse(value) === value);
}
