import type * as z from 'zod';
import { declaredLength, readAtMost } from '#domain/bounded-read.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { duplicateFields } from '#domain/json/duplicate-fields.ts';
import { pointerTo } from '#domain/json/json-pointer.ts';
import { readParameters } from '#http/edge/path-parameters.ts';
import { utf8TextOf } from '#http/edge/body/utf8-text.ts';
import { illFormedTexts } from '#http/edge/body/well-formed-body.ts';
import { problem } from '#http/encode/problem.ts';

/** The largest body of any endpoint. */
const MAX_BODY_BYTES = 64 * 1024;

const NO_BODY = /^\s*(\{\s*\}\s*)?$/;

/** What a route accepts. */
interface Accepted {
  readonly method: string;
  readonly access: string;
  /** The names of the path parameters. */
  readonly parameters: readonly string[];
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly optionalBody?: z.ZodType;
}

/** A request, parsed by the schemas of its route. */
interface ReadRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * Returns the reader of the requests of a route. It parses the query, the body and the path
 * parameters, each once.
 *
 * It refuses `invalid-request` for the query; for a body, in order, `body-too-large` (announced or
 * measured), `unsupported-media-type`, `malformed-json` for bytes that are not UTF-8, and
 * `invalid-request` for text that is not well-formed Unicode and for a field that occurs twice,
 * then `malformed-json` for any other text that is not JSON, and `invalid-request` by the schema
 * with an entry for each fault. Unknown fields are faults. A malformed path parameter gives a user
 * `invalid-request`. Every route has these checks, so no schema has to repeat them.
 */
export function requestReader(route: Accepted) {
  return async (context: HttpContext): Promise<Result<ReadRequest, Response>> => {
    const query = route.query === undefined ? accepted(null) : bySchema(context, route.query, queryOf(context));
    if (!query.ok) return query;
    const body = await readBody(context, route);
    if (!body.ok) return body;
    const { parameters: params, faults } = readParameters(route.parameters, (name) => context.req.param(name) ?? '');
    if (faults.length > 0 && route.access !== 'service') return refused(invalidRequest(context, faults));
    return accepted({ params, query: query.value, body: body.value });
  };
}

/**
 * Returns the query parameters. One that occurs several times is a list, which no schema accepts.
 */
function queryOf(context: HttpContext): Readonly<Record<string, unknown>> {
  const all = Object.entries(context.req.queries());
  return Object.fromEntries(all.map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

async function readBody(
  context: HttpContext,
  { method, access, body, optionalBody }: Accepted,
): Promise<Result<unknown, Response>> {
  const schema = body ?? optionalBody;
  // The signature of a delivery covers its bytes, so its route reads them.
  if (access === 'monitor' || (method === 'GET' && schema === undefined)) return accepted(null);
  const bytes = await bytesOf(context);
  if (bytes === null) {
    return refused(
      problem(context, 'body-too-large', { detail: `The body can have at most ${MAX_BODY_BYTES} bytes.` }),
    );
  }
  context.set('body', bytes);
  const text = utf8TextOf(bytes);
  if (body === undefined && text !== null && NO_BODY.test(text)) return accepted(null);
  if (schema === undefined) {
    return refused(problem(context, 'invalid-request', { detail: 'This endpoint does not accept a body.' }));
  }
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    return refused(problem(context, 'unsupported-media-type'));
  }
  if (text === null) return refused(problem(context, 'malformed-json', { detail: 'The body is not valid UTF-8.' }));
  const faults = [...illFormedTexts(text), ...duplicateFields(text)];
  if (faults.length > 0) return refused(invalidRequest(context, faults));
  const json = jsonIn(text);
  if (json === undefined) {
    return refused(problem(context, 'malformed-json', { detail: 'The body is not valid JSON.' }));
  }
  return bySchema(context, schema, json);
}

/** Returns the bytes of the body, or null for more than `MAX_BODY_BYTES`. */
async function bytesOf({ req: { raw } }: HttpContext): Promise<Uint8Array<ArrayBuffer> | null> {
  const declared = declaredLength(raw);
  if (declared === null) return readAtMost(raw.body, MAX_BODY_BYTES);
  // HTTP ends a body at its declared length.
  return declared > MAX_BODY_BYTES ? null : new Uint8Array(await raw.arrayBuffer());
}

function bySchema(context: HttpContext, schema: z.ZodType, value: unknown): Result<unknown, Response> {
  const { success, data, error } = schema.safeParse(value);
  return success ? accepted(data) : refused(invalidRequest(context, error.issues.flatMap(faultsOf)));
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
