import * as z from 'zod';
import type { Route } from '#http/edge/route.ts';
import { commonRefusals } from '#http/common-refusals.ts';
import { problemSchema, statusOf } from '#http/encode/problem.ts';
import type { ProblemCode } from '#http/encode/problems.ts';
import { ROUTES } from '#http/routes.ts';

/**
 * The OpenAPI 3.1 document. It derives from the schemas that check requests and with which tests
 * check responses. It omits routes that only internal service keys or monitors can call.
 */

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly [field: string]: unknown;
}

export interface OpenApi {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>>; readonly securitySchemes: object };
}

const PARAMETERS: Readonly<Record<string, string>> = {
  txId: 'Id of a transaction',
  vaultId: 'Id of a vault, an integer',
  changeId: 'Id of a policy change',
  resetId: 'Id of a credential reset',
  id: 'Id of a token: the 16 characters after service_pat_',
  subscriptionId: 'Id of a push subscription',
};

const ID_OF_BODY = 'Body';

/** The document is made once: this takes some milliseconds, and any caller may request it. */
let made: OpenApi | null = null;

export function openApi(): OpenApi {
  made ??= makeDocument();
  return made;
}

function makeDocument(): OpenApi {
  // Routes of the dashboard are not part of the public API.
  const shown = ROUTES.filter(
    ({ access, sessionOnly }) => access !== 'service' && access !== 'monitor' && sessionOnly !== true,
  );
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of shown) {
    const path = route.path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conclave',
      version: '1',
      description:
        'Self-hosted multi-signature custody. A transaction is signed only after enough signers have approved it.',
    },
    security: [{ accessToken: [] }],
    paths,
    components: {
      schemas: schemasOf(shown),
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'A personal access token (service_pat_...)' },
        device: {
          type: 'http',
          scheme: 'device',
          description: 'The request, signed by an Ed25519 device of a vault in device mode: VAULT.KEY.TIME.SIGNATURE',
        },
      },
    },
  };
}

/** Returns the operation id: `GET /transaction/:txId/history` is `getTransactionHistory`. */
function nameOf({ method, path }: Route): string {
  const words = path.split(/[/-]/).filter((part) => part !== '' && !part.startsWith(':'));
  const name = [method.toLowerCase(), ...words].map((word, i) =>
    i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1),
  );
  // The routes that read one object and all objects of a kind differ only in the id.
  return `${name.join('')}${/:[A-Za-z]+$/.test(path) ? 'ById' : ''}`;
}

function operationOf(route: Route): Operation {
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  return {
    operationId: nameOf(route),
    summary: route.summary,
    ...(route.access === 'anyone' ? { security: [] } : {}),
    ...(route.byDevice === true ? { security: [{ accessToken: [] }, { device: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(bodyOf(route) === undefined
      ? {}
      : { requestBody: { required: route.body !== undefined, content: jsonOf(`${nameOf(route)}${ID_OF_BODY}`) } }),
    responses: {
      [route.answer.status]: answerOf(route),
      ...(route.conditional === true ? { 304: { description: 'Not modified' } } : {}),
      ...refusalsOf(route),
    },
  };
}

function bodyOf({ body, optionalBody }: Route) {
  return body ?? optionalBody;
}

function answerOf({ answer, method, path }: Route) {
  if (answer.schema === null) return { description: 'Success' };
  const id = answer.schema.meta()?.id;
  if (id === undefined) throw new Error(`the answer of ${method} ${path} has no name`);
  return { description: 'Success', content: jsonOf(id) };
}

function refusalsOf(route: Route): Record<string, unknown> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of [...commonRefusals(route), ...route.refuses]) {
    const codes = byStatus.get(statusOf(code)) ?? [];
    byStatus.set(statusOf(code), [...codes, code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

function pathParameters({ path }: Route) {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETERS[name] ?? '',
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Route) {
  if (query === undefined) return [];
  const properties = schemaOf(query, 'input')['properties'] ?? {};
  return Object.entries(properties).map(([name, schema]) => {
    const values = typeof schema === 'object' && schema.type === 'array' ? { style: 'form', explode: false } : {};
    return { name, in: 'query', required: false, ...values, schema };
  });
}

function headerParameters({ method, path, conditional, waits, answer }: Route) {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  const creates = method === 'POST' && path.startsWith('/transaction/') && answer.status === 201;
  return [
    ...(creates
      ? [
          header(
            'Idempotency-Key',
            'Repeated requests with the same key and body create one transaction within 24 hours',
          ),
        ]
      : []),
    ...(conditional === true
      ? [header('If-None-Match', 'The ETag of an earlier response; the response is 304 when nothing has changed')]
      : []),
    ...(waits === true
      ? [header('Prefer', 'wait=N delays the response until there is a change, for N seconds (30 at most)')]
      : []),
  ];
}

function jsonOf(id: string) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${id}` } } };
}

function schemasOf(routes: readonly Route[]): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const add = (name: string, schema: z.ZodType, io: 'input' | 'output') => {
    const { $defs = {}, ...own } = schemaOf(schema, io);
    // A schema with its own id appears as one of its own definitions.
    if (!('$ref' in own)) schemas[name] = own;
    for (const [inner, definition] of Object.entries($defs)) schemas[inner] = withoutName(definition);
  };
  add('Problem', problemSchema, 'output');
  for (const route of routes) {
    const body = bodyOf(route);
    if (body !== undefined) add(`${nameOf(route)}${ID_OF_BODY}`, body, 'input');
    const { schema } = route.answer;
    if (schema !== null) add(schema.meta()?.id ?? nameOf(route), schema, 'output');
  }
  return schemas;
}

interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** Returns the JSON Schema 2020-12 of a schema, with references into the document. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return withoutName(JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema);
}

function withoutName({ $schema: _dialect, id: _id, ...rest }: JsonSchema): JsonSchema {
  return rest;
}
