/** The rules of the documents, as functions of a document and of the facts of the code. Each returns the faults that it finds, in words. */

export interface Document {
  /** A path from the top of the project, such as `docs/api.md`. */
  readonly path: string;
  readonly text: string;
}

/** The names that documents may use. */
export interface Facts {
  /** The paths of all files and folders of the project. */
  readonly paths: ReadonlySet<string>;
  readonly documents: ReadonlyMap<string, string>;
  readonly scripts: ReadonlySet<string>;
  /** The lowest version of Node that starts the project, such as `22.18`. */
  readonly lowestNode: string;
  /** The text that `conclave COMMAND --help` prints, by the name of the command. */
  readonly usages: ReadonlyMap<string, string>;
  /** Endpoints such as `GET /vault/{}`, without the names of path parameters. */
  readonly endpoints: ReadonlySet<string>;
  /**
   * Every word of source, tests, configuration and scripts, in lower case because header names have
   * any case.
   */
  readonly words: ReadonlySet<string>;
}

type Rule = (document: Document, facts: Facts) => readonly string[];

const MAX_COLUMNS = 120;
/** Documents that a tool writes: the attack table, and the figures of the bench. */
const isGenerated = ({ path }: Document, line: string) =>
  path === 'docs/attacks.md' || (path === 'docs/performance.md' && line.startsWith('|'));

function width(document: Document): readonly string[] {
  return document.text.split('\n').flatMap((line, i) => {
    const isWide = [...line].length > MAX_COLUMNS && !isGenerated(document, line);
    return isWide ? [`line ${i + 1} has ${[...line].length} columns`] : [];
  });
}

/**
 * Returns the code of a document: the text between backticks, and the lines of fenced blocks, with
 * continued lines joined.
 */
function codeOf(text: string): { readonly inline: readonly string[]; readonly lines: readonly string[] } {
  const blocks = [...text.matchAll(/^ *```[^\n]*\n(.*?)^ *```$/gmsu)].map((match) => match[1] ?? '');
  const prose = text.replaceAll(/^ *```[^\n]*\n.*?^ *```$/gmsu, '');
  const inline = [...prose.matchAll(/`([^`]+)`/gu)].map((match) => (match[1] ?? '').replaceAll(/\s+/gu, ' '));
  return { inline, lines: blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')) };
}

const PATH = /^(?:src|test|cli|local|bench|docs|deploy|config|migrations|\.ci)\/[\w./-]*$/;

function paths({ text }: Document, facts: Facts): readonly string[] {
  return codeOf(text)
    .inline.filter((code) => PATH.test(code) && !facts.paths.has(code.replace(/\/$/, '')))
    .map((code) => `there is no ${code}`);
}

/** Returns the anchor of a heading: lower case, without punctuation, hyphens for spaces. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.replaceAll(/^```.*?^```$/gmsu, '').matchAll(/^#{1,6} (.+)$/gmu)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function links({ path, text }: Document, facts: Facts): readonly string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/gu)].map((match) => match[1] ?? '');
  return targets.flatMap((target) => {
    if (/^(?:https?|mailto):/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const full = file === '' ? path : new URL(file, `file:///${path}`).pathname.slice(1).replace(/\/$/, '');
    if (!facts.paths.has(full)) return [`there is no ${target}`];
    const linked = facts.documents.get(full);
    if (anchor === undefined || linked === undefined) return [];
    return anchorsOf(linked).has(anchor) ? [] : [`${full} has no heading #${anchor}`];
  });
}

function commands({ text }: Document, facts: Facts): readonly string[] {
  const { inline, lines } = codeOf(text);
  return [...inline, ...lines].flatMap((line) => [...scriptFaults(line, facts), ...conclaveFaults(line, facts)]);
}

function scriptFaults(line: string, { scripts }: Facts): readonly string[] {
  const named = [...line.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/gu)].map((match) => match[1] ?? '');
  return named.filter((script) => !scripts.has(script)).map((script) => `there is no npm run ${script}`);
}

/**
 * Returns the `conclave` commands of a document, each with the flags that its line names. A
 * placeholder such as COMMAND is skipped.
 */
function conclaveFaults(line: string, { usages }: Facts): readonly string[] {
  return [...line.matchAll(/\bconclave(?: --|\.ts) ([^|>#]*)/gu)].flatMap((match) => {
    const [name = '', ...words] = (match[1] ?? '').trim().split(/\s+/u);
    if (name === '' || /^(?:COMMAND|--help|\.\.\.)/.test(name)) return [];
    const usage = usages.get(name);
    if (usage === undefined) return [`there is no command ${name}`];
    const known = new Set([...(usage.match(/[\w-]+/gu) ?? []), '--help']);
    // The words before the first flag or value are the names of sub-commands.
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
    const named = words.slice(0, end === -1 ? words.length : end);
    const flags = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.split('=')[0] ?? '');
    const used = [...(name === 'admin' || name === 'device' || name === 'recover' ? named : []), ...flags];
    return used.filter((word) => !known.has(word)).map((word) => `conclave ${name} has no ${word}`);
  });
}

/** Returns an endpoint without the names of its path parameters. */
export function endpointOf(method: string, path: string): string {
  return `${method} ${path.replaceAll(/:[A-Za-z]+|\{[A-Za-z]+\}/gu, '{}')}`;
}

function endpoints({ text }: Document, facts: Facts): readonly string[] {
  return codeOf(text).inline.flatMap((code) => {
    const [, method = '', path = ''] = /^(GET|POST|PUT|PATCH|DELETE) (\/[^\s?]*)/u.exec(code) ?? [];
    if (method === '' || facts.endpoints.has(endpointOf(method, path))) return [];
    return [`there is no ${method} ${path}`];
  });
}

/**
 * Matches codes, settings, reasons, events and flags: one word with a hyphen, an underscore or an
 * inner capital.
 */
const IDENTIFIER = /^(?:--)?[A-Za-z][A-Za-z0-9]*(?:(?:[-_][A-Za-z0-9]+)+|[a-z0-9][A-Z][A-Za-z0-9]*)$/;

function identifiers({ path, text }: Document, facts: Facts): readonly string[] {
  if (path === 'CHANGELOG.md') return [];
  return codeOf(text)
    .inline.filter((code) => IDENTIFIER.test(code) && !facts.words.has(code.replace(/^--/, '').toLowerCase()))
    .map((code) => `nothing is called ${code}`);
}

const MAX_README_LINES = 180;
const MAX_LIMIT_LINES = 2;

/** The README has one page. Limits are one line each, and their reasons are under "Background". */
function length({ path, text }: Document): readonly string[] {
  const lines = text.trimEnd().split('\n');
  if (path === 'README.md' && lines.length > MAX_README_LINES) return [`has ${lines.length} lines`];
  if (path !== 'docs/known-limits.md') return [];
  const [limits = ''] = text.split('\n## Background\n');
  const items = limits.split(/\n(?=- )/u).slice(1);
  return items.flatMap((item) => {
    const [first = ''] = item.split(/\n\n/u);
    return first.split('\n').length > MAX_LIMIT_LINES ? [`more than two lines: ${first.slice(0, 60)}`] : [];
  });
}

/** The documents for newcomers state the lowest version of Node. Every document that states one states the same. */
function nodeVersion({ path, text }: Document, { lowestNode }: Facts): readonly string[] {
  const stated = [...text.matchAll(/\bNode\s+([\d.]+)\s+or\s+newer/gu)].map((match) => match[1] ?? '');
  if (stated.length === 0 && ['README.md', 'CONTRIBUTING.md'].includes(path)) return ['states no version of Node'];
  return stated.filter((version) => version !== lowestNode).map((version) => `Node ${version} is not ${lowestNode}`);
}

export const rules: Readonly<Record<string, Rule>> = {
  width,
  paths,
  links,
  commands,
  endpoints,
  identifiers,
  length,
  nodeVersion,
};
