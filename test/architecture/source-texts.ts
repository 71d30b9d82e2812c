/** A range of characters of a source file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the literals of a parsed file, the parts of its templates, and the text of its JSX. A
 * literal that is not a string has an empty text.
 */
export function textsIn(program: unknown): readonly (Span & { readonly text: string })[] {
  const texts: (Span & { readonly text: string })[] = [];
  const open: unknown[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { start, end } = node as Span;
    const text = textOf(node);
    if (text !== null) texts.push({ start, end, text });
    open.push(...Object.values(node));
  }
  return texts;
}

function textOf({ type, value }: { readonly type?: unknown; readonly value?: unknown }): string | null {
  if (type === 'TemplateElement') return (value as { readonly raw: string }).raw;
  if (type !== 'Literal' && type !== 'JSXText') return null;
  return typeof value === 'string' ? value : '';
}
