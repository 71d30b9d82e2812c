import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { html, raw } from 'hono/html';
import { createMiddleware } from 'hono/factory';
import type { HttpContext, HttpEnv } from '#http/encode/context.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import type { TaggedJson } from '#http/edge/etag.ts';
import { respondWithEtag, taggedJson } from '#http/edge/etag.ts';
import { openApi } from '#http/openapi.ts';

/**
 * GET /docs: returns the API documentation for people. It is one page without a script, and
 * everything in it is escaped.
 */
export async function docs(context: HttpContext): Promise<Response> {
  page ??= String(await makePage());
  return context.body(page, 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      // The page loads nothing, and only its own style sheet applies.
      `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`,
    'referrer-policy': 'no-referrer',
  });
}

/** GET /openapi.json: returns the API documentation for programs. */
export function openApiDocument(context: HttpContext): Response {
  document ??= taggedJson(openApi());
  return respondWithEtag(context, document);
}

/**
 * Anyone reads the two documents, so they are counted against the address of the client. They
 * differ between releases alone, and anyone may cache them.
 */
export const publicDocument = createMiddleware<HttpEnv>(async (context, next) => {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  await next();
  context.header('cache-control', `public, max-age=${CACHED_SECONDS}`);
  return undefined;
});

const CACHED_SECONDS = 300;

/** The documents are rendered once. */
let page: string | null = null;
let document: TaggedJson | null = null;

function makePage() {
  const { info, paths, components } = openApi();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as unknown as Shown })),
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title} API reference</title>
        ${raw(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <h1>${info.title} API reference</h1>
        <p>${info.description} Machine-readable document: <a href="/openapi.json">openapi.json</a>.</p>
        <h2>Endpoints</h2>
        ${operations.map(operationOf)}
        <h2>Schemas</h2>
        ${Object.entries(components.schemas).map(shapeOf)}
      </body>
    </html>`;
}

interface Shown {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;

interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: Shown;
}

function operationOf({ path, method, operation }: Endpoint) {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  return html`<section id="${operationId}">
    <h3><code>${method.toUpperCase()} ${path}</code></h3>
    <p>${summary}</p>
    ${
      parameters.length === 0
        ? ''
        : html`<ul>
            ${parameters.map((one) => html`<li><code>${one.name}</code> (${one.in}) ${one.description ?? ''}</li>`)}
          </ul>`
    }
    ${requestBody === undefined ? '' : html`<p>Request body: ${linkOf(requestBody.content)}</p>`}
    <table>
      ${Object.entries(responses).map(
        ([status, { description, content }]) =>
          html`<tr>
            <th>${status}</th>
            <td>${content === undefined || Number.parseInt(status, 10) >= 400 ? description : linkOf(content)}</td>
          </tr>`,
      )}
    </table>
  </section>`;
}

function linkOf(content: Content) {
  const name = Object.values(content)[0]?.schema.$ref.split('/').at(-1) ?? '';
  return html`<a href="#shape-${name}">${name}</a>`;
}

function shapeOf([name, schema]: readonly [string, unknown]) {
  return html`<details id="shape-${name}">
    <summary><code>${name}</code></summary>
    <pre>${JSON.stringify(schema, null, 2)}</pre>
  </details>`;
}

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
          body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
          section { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: 0.5rem 0; }
          th { text-align: left; padding-right: 1rem; vertical-align: top; }
          code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
          pre { overflow-x: auto; }`;

const STYLE_HASH = btoa(String.fromCharCode(...sha256(utf8ToBytes(STYLE))));
