import { parseSync } from 'oxc-parser';

/** One small change of a file. */
export interface Mutation {
  readonly start: number;
  readonly end: number;
  /** The text that replaces it. */
  readonly is: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '&&': ['||'],
  '||': ['&&'],
};

/** A map, because an object also has a value for names such as `toString`. */
const CALLS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['max', 'min'],
  ['min', 'max'],
]);

/** The places where a text is a name and not a value. */
const NAMES = new Set(['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression']);

/**
 * Returns all small changes of a TypeScript file that a test of its behaviour should notice: other
 * comparisons and operators, conditions that always or never hold, numbers changed by one, other
 * texts, and removed list items and statements. Types are not changed.
 */
export function mutationsOf(path: string, source: string): readonly Mutation[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`);
  const found: Mutation[] = [];
  const text = ({ start, end }: Node) => source.slice(start, end);
  visit(program as unknown as Node, (node) => {
    for (const is of replacementsOf(node, text)) {
      if (is !== text(node)) found.push({ start: node.start, end: node.end, is });
    }
  });
  return found;
}

function visit(node: Node, observation: (node: Node) => void): void {
  if (node.type.startsWith('TS') && !node.type.endsWith('Expression')) return;
  if (NAMES.has(node.type) && !isNode(node['declaration'])) return;
  observation(node);
  for (const [field, value] of Object.entries(node)) {
    // A field name is not a value, and a type has no effect at run time.
    if (field === 'typeAnnotation' || field === 'returnType' || field === 'typeArguments') continue;
    if (field === 'key' && node['computed'] !== true) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, observation);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function replacementsOf(node: Node, text: (node: Node) => string): readonly string[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return ofOperator(node, text);
    case 'IfStatement':
      return ofCondition(node, text);
    case 'ConditionalExpression':
      return [text(part(node, 'consequent')), text(part(node, 'alternate'))].map((one) => `(${one})`);
    case 'UnaryExpression':
      return node['operator'] === '!' || node['operator'] === '-' ? [text(part(node, 'argument'))] : [];
    case 'Literal':
      return ofLiteral(node, text);
    case 'TemplateLiteral':
      return ['``'];
    case 'ArrayExpression':
      return partsOf(node, 'elements').map((left) => `[${without(partsOf(node, 'elements'), left, text)}]`);
    case 'ExpressionStatement':
      return [';'];
    case 'CallExpression':
      return ofCall(node, text);
    default:
      return [];
  }
}

function ofOperator(node: Node, text: (node: Node) => string): readonly string[] {
  const [left, right, operator] = [part(node, 'left'), part(node, 'right'), String(node['operator'])];
  const others = (COMPARISONS[operator] ?? []).map((other) => `${text(left)} ${other} ${text(right)}`);
  if (operator === '??') return [text(right)];
  return operator === '&&' || operator === '||' ? [...others, text(left), text(right)] : others;
}

function ofCondition(node: Node, text: (node: Node) => string): readonly string[] {
  const test = part(node, 'test');
  const [before, whole] = [text(node).slice(0, test.start - node.start), text(node)];
  const after = whole.slice(test.end - node.start);
  return [`${before}true${after}`, `${before}false${after}`];
}

function ofLiteral(node: Node, text: (node: Node) => string): readonly string[] {
  const { value } = node;
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return [`${text(node)} + 1`].map((one) => `(${one})`);
  if (typeof value === 'bigint') return [`(${text(node)} + 1n)`];
  if (typeof value === 'string') return [value === '' ? `'other'` : `''`];
  return [];
}

function ofCall(node: Node, text: (node: Node) => string): readonly string[] {
  const callee = part(node, 'callee');
  if (callee.type !== 'MemberExpression') return [];
  const [object, property] = [part(callee, 'object'), text(part(callee, 'property'))];
  const args = text(node).slice(callee.end - node.start);
  const other = CALLS.get(property);
  if (other !== undefined) return [`${text(object)}.${other}${args}`];
  return property === 'filter' || property === 'toSorted' || property === 'slice' ? [text(object)] : [];
}

function without(elements: readonly Node[], left: Node, text: (node: Node) => string): string {
  return elements
    .filter((one) => one !== left)
    .map(text)
    .join(', ');
}

function part(node: Node, field: string): Node {
  const value = node[field];
  if (!isNode(value)) throw new Error(`a ${node.type} without ${field}`);
  return value;
}

function partsOf(node: Node, field: string): readonly Node[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}
