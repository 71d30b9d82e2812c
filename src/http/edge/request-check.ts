import { zValidator } from '@hono/zod-validator';
import { createMiddleware } from 'hono/factory';
import type { MiddlewareHandler, ValidationTargets } from 'hono';
import type * as z from 'zod';
import type { HttpContext, HttpEnv } from '#http/edge/context.ts';
import { pointerTo } from '#http/edge/json-pointer.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { problem } from '#http/encode/problem.ts';
import { duplicateFields } from '#http/edge/duplicate-fields.ts';
import { illFormedTexts } from '#http/edge/well-formed-body.ts';
import { declaredLength, readAtMost } from '#domain/bounded-read.ts';
import { utf8TextOf } from '#http/edge/utf8-text.ts';

/** The largest body of any endpoint. */
const MAX_BODY_BYTES = 64 * 1024;

const NO_BODY = /^\s*(\{\s*\}\s*)?$/;

/**
 * Checks a JSON body. Refuses, in order: `body-too-large` (announced or measured),
 * `unsupported-media-type`, `malformed-json` for bytes that are not UTF-8, and with
 * `invalid-request` every text that is not well-formed Unicode and every field that occurs twice.
 * Every route that accepts JSON has these checks, so no schema has to repeat them.
 */
export const jsonBody = [
  createMiddleware<HttpEnv>(async (context, next) => {
    const { raw } = context.req;
    const declared = declaredLength(raw);
    // HTTP ends a body at its declared length.
    if (raw.body === null || (declared !== null && declared <= MAX_BODY_BYTES)) return next();
    const body = declared === null ? await readAtMost(raw.body, MAX_BODY_BYTES) : null;
    if (body === null) {
      return problem(context, 'body-too-large', { detail: `The body can have at most ${MAX_BODY_BYTES} bytes.` });
    }
    context.req.raw = new Request(raw, { method: raw.method, body });
    return next();
  }),
  createMiddleware<HttpEnv>(async (context, next) => {
    const type = context.req.header('content-type') ?? '';
    if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
      return problem(context, 'unsupported-media-type', { detail: 'Send Content-Type: application/json.' });
    }
    await next();
    return undefined;
  }),
  createMiddleware<HttpEnv>(async (context, next) => {
    const text = await textOf(context);
    if (text === null) return problem(context, 'malformed-json', { detail: 'The body is not valid UTF-8.' });
    const faults = [...illFormedTexts(text), ...duplicateFields(text)];
    if (faults.length > 0) return invalidRequest(context, faults);
    await next();
    return undefined;
  }),
] as const;

/**
 * Checks that a command has no body or an empty object. Refuses `body-too-large` and
 * `invalid-request`.
 */
export const noBody = [
  jsonBody[0],
  createMiddleware<HttpEnv>(async (context, next) => {
    if (!(await isEmpty(context))) {
      return problem(context, 'invalid-request', { detail: 'This endpoint does not accept a body.' });
    }
    await next();
    return undefined;
  }),
] as const;

/**
 * Returns the checks of an optional body: those of `jsonBody` and `check`, unless the body is
 * empty.
 */
export function optionalBody(schema: z.ZodType): readonly MiddlewareHandler[] {
  const unlessEmpty = (door: MiddlewareHandler) =>
    createMiddleware<HttpEnv>(async (context, next) => ((await isEmpty(context)) ? next() : door(context, next)));
  return [jsonBody[0], unlessEmpty(jsonBody[1]), unlessEmpty(jsonBody[2]), unlessEmpty(check('json', schema))];
}

/** Returns the parsed body, which the checks have accepted; null for an empty body. */
export async function optionalBodyOf<S extends z.ZodType>(
  context: HttpContext,
  schema: S,
): Promise<z.output<S> | null> {
  return (await isEmpty(context)) ? null : schema.parse(await context.req.json());
}

/**
 * Returns the text of the body, or null when it is not UTF-8. Hono keeps the bytes, and `json()`
 * decodes them to the same text later. A first reading by `text()` would lose them: Hono would keep
 * a text with U+FFFD in their place.
 */
async function textOf(context: HttpContext): Promise<string | null> {
  return utf8TextOf(await context.req.arrayBuffer());
}

async function isEmpty(context: HttpContext): Promise<boolean> {
  const text = await textOf(context);
  return text !== null && NO_BODY.test(text);
}

/**
 * Returns the check of one part of the request. It refuses `invalid-request` with an entry for each
 * fault. Unknown fields are faults.
 */
export function check<S extends z.ZodType>(target: keyof ValidationTargets & ('json' | 'query' | 'param'), schema: S) {
  return zValidator(target, schema, (result, context) => {
    if (result.success) return undefined;
    return invalidRequest(context as unknown as HttpContext, result.error.issues.flatMap(faultsOf));
  });
}

export function invalidRequest(context: HttpContext, errors: readonly FieldFault[]): Response {
  const detail = errors.map((error) => `${error.pointer}: ${error.detail}`).join(' ');
  return problem(context, 'invalid-request', { detail, errors });
}

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

function faultsOf(issue: Issue): FieldFault[] {
  if (issue.code === 'unrecognized_keys' && issue.keys !== undefined) {
    const keys = issue.keys.slice(0, 10);
    return keys.map((key) => ({
      pointer: pointerTo([...issue.path, key]),
      code: 'unknown-field',
      detail: 'The field is not known.',
    }));
  }
  return [{ pointer: pointerTo(issue.path), code: issue.code ?? 'invalid', detail: sentence(issue.message) }];
}

/** Returns the text with a full stop. The messages of Zod itself have none. */
function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
