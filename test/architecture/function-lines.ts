import { parseSync } from 'oxc-parser';
import type { SourceFile } from './house.ts';

const MAX_FUNCTION_LINES = 60;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the functions of a source file that are too long. The lines of a switch and of JSX do not
 * count: one has a case for each value, and the other is the form of a page.
 */
export function notTooLongFunctions({ path, text }: SourceFile): readonly string[] {
  if (!path.startsWith('src/') || path.endsWith('.d.ts')) return [];
  const linesOf = ({ start, end }: Node) => text.slice(start, end).split('\n').length;
  const faults: string[] = [];
  /** Returns the lines inside of a node that do not count. */
  const letOff = (node: Node): number => {
    const within = childrenOf(node).reduce((sum, child) => sum + letOff(child), 0);
    if (isFunction(node)) {
      const counted = linesOf(node) - within;
      const line = text.slice(0, node.start).split('\n').length;
      if (counted > MAX_FUNCTION_LINES) faults.push(`line ${line} begins a function of ${counted} lines`);
    }
    return /^(SwitchStatement|JSXElement|JSXFragment)$/.test(node.type) ? linesOf(node) - 1 : within;
  };
  letOff(parseSync(path, text).program);
  return faults;
}

function isFunction({ type }: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]).filter(isNode));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;
}
