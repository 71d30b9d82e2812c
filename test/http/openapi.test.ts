import { expect, test } from 'vitest';
import { openApi } from '#http/openapi.ts';

const MAX_COLUMNS = 120;

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/**
 * Returns JSON text in which objects and lists that fit into a line take one, so that a reviewer
 * sees a change of the document in few lines.
 *
 * @param indent the columns before the lines of the value
 * @param before the columns of a name before the value, and of a comma behind it
 */
function compactJson(value: Json, indent = '', before = 0): string {
  const line = jsonLine(value);
  if (value === null || typeof value !== 'object' || indent.length + before + line.length <= MAX_COLUMNS) return line;
  const deeper = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((item: Json) => compactJson(item, deeper, 1))
    : Object.entries(value).map(([name, item]) => {
        const label = `${JSON.stringify(name)}: `;
        return label + compactJson(item, deeper, label.length + 1);
      });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${entries.map((entry) => deeper + entry).join(',\n')}\n${indent}${close}`;
}

function jsonLine(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(', ')}]`;
  const entries = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${jsonLine(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

test('the OpenAPI document equals the published one', async () => {
  const document = JSON.parse(JSON.stringify(openApi())) as Json;
  const text = `${compactJson(document)}\n`;
  expect(JSON.parse(text)).toEqual(document);
  await expect(text).toMatchFileSnapshot('openapi.snapshot.json');
});
