import { parseSync } from 'oxc-parser';
import type { SourceFile } from './house.ts';
import { type Span, textsIn } from './source-texts.ts';

/**
 * Code has at most 120 columns and comments have at most 100, so that two files fit on a screen
 * side by side.
 */

const MAX_CODE_COLUMNS = 120;
const MAX_COMMENT_COLUMNS = 100;
/**
 * A code line with a text longer than this may be wider than the limit, because the formatter does
 * not split texts.
 */
const LONG_TEXT = 60;

const sharedBy = (a: Span, b: Span) => Math.min(a.end, b.end) - Math.max(a.start, b.start);

export function tooWide({ path, text }: SourceFile): readonly string[] {
  const lines = text.split('\n');
  if (lines.every((line) => line.length <= MAX_COMMENT_COLUMNS)) return [];
  const { program, comments } = parseSync(path, text);
  const texts = textsIn(program);
  let start = 0;
  return lines.flatMap((line, i) => {
    const span = { start, end: start + line.length };
    start = span.end + 1;
    const code = span.start + (line.length - line.trimStart().length);
    const isComment = comments.some((one) => one.start <= code && one.end >= code);
    const columns = isComment ? MAX_COMMENT_COLUMNS : MAX_CODE_COLUMNS;
    if (line.length <= columns || (!isComment && texts.some((one) => sharedBy(one, span) > LONG_TEXT))) return [];
    return [`line ${i + 1} has ${line.length} columns; at most ${columns}`];
  });
}
