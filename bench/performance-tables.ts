import type { Memory } from './memory.ts';

/** The figures of one case in a table of docs/performance.md. */
export interface Row {
  readonly what: string;
  readonly rps: number;
  /** The sustainable rate, which includes the time for deferred work. */
  readonly lastingRps: number;
  /** NaN when the rate of the measurement was not reached. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /**
   * The ratio of its throughput to that of a bare runtime with the minimum of the kind; null for a
   * case without a baseline.
   */
  readonly ratio: { readonly value: number; readonly of: string } | null;
}

/** The markers of each table of figures. */
const COMMANDS = {
  figures: 'npm run bench -- --write',
  growth: 'npm run bench -- --growth --write',
  memory: 'npm run bench -- --growth --write, its memory,',
} as const;
const END = '<!-- to here -->';
const POSITION = 'One core for the service, and one for its clients.';

/**
 * Returns the document with these figures in place of the old ones. Throws for a text without the
 * markers.
 */
export function withTable(document: string, rows: readonly Row[], table: 'figures' | 'growth'): string {
  const lines = [
    ['What', 'per second', 'lasting', 'p50 ms', 'p95 ms', 'throughput against'],
    ...rows.map(({ what, rps, lastingRps, p50Ms, p95Ms, ratio }) => [
      what,
      rps.toFixed(0),
      lastingRps.toFixed(0),
      ...[p50Ms, p95Ms].map((ms) => (Number.isNaN(ms) ? '' : ms.toFixed(1))),
      ratio === null ? '' : `${ratio.value.toFixed(2)} of ${ratio.of}`,
    ]),
  ];
  return put(document, table, `${POSITION}\n\n${tableOf(lines)}`);
}

/**
 * Returns the document with the memory of each isolate, in MiB of the platform limit of 128. Throws
 * for a text without the markers.
 */
export function withMemory(document: string, memory: ReadonlyMap<string, Memory>): string {
  const rows = [...memory].map(([name, { most, inUse }]) => [`\`${name}\``, mebibytes(most), mebibytes(inUse)]);
  return put(document, 'memory', tableOf([['Isolate', 'MiB at most', 'in use at the end'], ...rows]));
}

export function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function put(document: string, table: keyof typeof COMMANDS, text: string): string {
  const begin = `<!-- ${COMMANDS[table]} writes from here -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(END, from);
  if (from === -1 || to === -1) throw new Error(`the document has no place for figures, between ${begin} and ${END}`);
  return `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`;
}

function tableOf(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0), 3)) ?? [];
  const row = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [row(head), row(widths.map((width) => '-'.repeat(width))), ...body.map(row)].join('\n');
}
