/** What a table of the README says of one case. */
export interface Row {
  readonly what: string;
  readonly rps: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of its throughput to that of a bare runtime that does the least of the kind; null for a case that is held against none. */
  readonly ratio: { readonly value: number; readonly of: string } | null;
}

const BEGIN = '<!-- npm run bench -- --readme FILE writes from here -->';
const END = '<!-- to here -->';

/** The README with these figures in the place of the old ones. Throws for a text without that place. */
export function withTable(readme: string, rows: readonly Row[]): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the README has no place for figures, between ${BEGIN} and ${END}`);
  const lines = [
    ['What', 'per second', 'p50 ms', 'p95 ms', 'throughput against'],
    ...rows.map(({ what, rps, p50Ms, p95Ms, ratio }) => [
      what,
      rps.toFixed(0),
      p50Ms.toFixed(1),
      p95Ms.toFixed(1),
      ratio === null ? '' : `${ratio.value.toFixed(2)} of ${ratio.of}`,
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0), 3)) ?? [];
  const row = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const table = [row(head), row(widths.map((width) => '-'.repeat(width))), ...body.map(row)];
  const place = 'One core for the service, and one for its clients.';
  return `${readme.slice(0, begin)}${BEGIN}\n\n${place}\n\n${table.join('\n')}\n\n${readme.slice(end)}`;
}
