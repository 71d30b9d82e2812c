import { parseSync } from 'oxc-parser';
import type { SourceFile } from './house.ts';
import { textsIn } from './source-texts.ts';

/**
 * Words of negation, comparison and obligation, and words that name a fault. A text without any of
 * them states what should be true, and an operator reads the opposite of what happened.
 */
const FAULT_WORDS: readonly RegExp[] = [
  /\b(?:no|not|cannot|never|without)\b/iu,
  /\b(?:than|too|outside|below|another|same)\b/iu,
  /\b(?:must|may only)\b/iu,
  /\b(?:damaged|expired|invalid|malformed|missing|unexpected|unknown|wrong)\b/iu,
];

/** Returns a fault for each text of a thrown error that does not state what is wrong. */
export function faultsNotStated({ path, text }: SourceFile): readonly string[] {
  if (!path.startsWith('src/')) return [];
  return thrownIn(parseSync(path, text).program)
    .flatMap((thrown) => writtenTexts(thrown.arguments?.[0]))
    .filter((written) => !FAULT_WORDS.some((words) => words.test(written)))
    .map((written) => `has an error that does not state what is wrong: ${written}`);
}

/** The parts of a syntax tree that the rule reads. */
interface Expression {
  readonly type: string;
  readonly arguments?: readonly Expression[];
  readonly consequent?: Expression;
  readonly alternate?: Expression;
}

/** Returns the errors that the `throw` statements of a file create. */
function thrownIn(program: unknown): readonly Expression[] {
  const thrown: Expression[] = [];
  const open: unknown[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { type, argument } = node as { readonly type?: unknown; readonly argument?: Expression };
    if (type === 'ThrowStatement' && argument?.type === 'NewExpression') thrown.push(argument);
    open.push(...Object.values(node));
  }
  return thrown;
}

/**
 * Returns the texts that stand in the `throw` itself: both of a condition, and the fixed parts of a
 * template. A text from elsewhere is not read.
 */
function writtenTexts(message: Expression | undefined): readonly string[] {
  if (message?.type === 'ConditionalExpression') return [message.consequent, message.alternate].flatMap(writtenTexts);
  if (message?.type !== 'Literal' && message?.type !== 'TemplateLiteral') return [];
  const parts = textsIn(message).toSorted((a, b) => a.start - b.start);
  return [parts.map(({ text }) => text).join(' ')];
}
