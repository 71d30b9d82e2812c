import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defaultRules, type SIGN_ONCE_MODES } from '#domain/policy/optional-rules.ts';

/**
 * `npm run attack-table` writes docs/attacks.md: the attacks that `test/attacks/` tries, from the
 * header of each file, and what each number of co-signers withstands, computed from the rules by
 * which co-signers sign.
 */

const PROJECT = join(import.meta.dirname, '..', '..');
const ATTACKS = join('test', 'attacks');
export const ATTACKS_DOCUMENT = join(PROJECT, 'docs', 'attacks.md');

/**
 * The folders of `test/attacks/` in the order of the document, each with the name of its attacker.
 */
const ATTACKERS: Readonly<Record<string, string>> = {
  coordinator: 'The coordinator, with every database, queue, token and service key',
  'coordinator-and-cosigner': 'The coordinator and fewer co-signers than the signing threshold',
  'coordinator-and-devices': 'The coordinator and devices that the policy no longer names',
  member: 'A hostile member of the vault, or the thief of a token of one',
  operator: 'The holder of a service key',
  'thief-of-secrets': 'A thief of secrets',
  network: 'Anyone on the network',
};

/** The header of one attack file. */
export interface Attack {
  /** A path from the top of the project, with forward slashes. */
  readonly path: string;
  readonly attacker: string;
  readonly attack: string;
  /**
   * The number of co-signers that the attacker controls; `f` where the attack works with any number
   * of them.
   */
  readonly cosigners: string;
  /**
   * The numbers of the findings that the attack comes from. The document does not show the numbers.
   */
  readonly findings: readonly string[];
  readonly defence: string;
}

const HEADER = new RegExp(
  [
    String.raw`^/\*\*\n \* Attack: (?<attack>\S.*(?:\n \*   \S.*)*)`,
    String.raw` \* Attacker: (?<attacker>[a-z -]+)`,
    String.raw` \* Co-signers: (?<cosigners>[0-4f])`,
    String.raw` \* Finding: (?<findings>\S.*)`,
    String.raw` \* Defence: (?<defence>\S.*(?:\n \*   \S.*)*)`,
    String.raw` \*/\n`,
  ].join(String.raw`\n`),
  'u',
);
/**
 * The spellings of a finding: a section (2.1, 3), a minor finding (12 to 21), the finding about
 * operators (P4, O1), a finding about money on chain (C1, H1, M1), an expectation of users (E1), or a
 * finding of the second or third review of co-signers, devices and page (F1, N1).
 */
const FINDING =
  /^(?:2\.(?:[1-9]|1[01])|3|1[2-9]|2[01]|P4|F(?:[1-9]|1[0-4])|[CHMEN][1-9]|[SO](?:[1-9]|1[0-6])|[ME]1\d)$/u;

/** The header of an attack file. Throws when it is missing or malformed. */
export function parseAttack(path: string, text: string): Attack {
  // The folder of one attacker, which may have folders inside.
  const folder = path.split('/')[2] ?? '';
  const { attack = '', attacker = '', cosigners = '', findings = '', defence = '' } = HEADER.exec(text)?.groups ?? {};
  if (attack === '') throw new Error(`${path} does not begin with the header of an attack`);
  // The name of the attacker, with spaces or with hyphens.
  const isOfFolder = attacker.trim().replaceAll(' ', '-').replace('co-signer', 'cosigner') === folder;
  if (!isOfFolder || ATTACKERS[folder] === undefined) throw new Error(`${path} names the attacker "${attacker}"`);
  const numbers = findings.split(', ').map((one) => one.trim());
  if (!numbers.every((one) => FINDING.test(one))) throw new Error(`${path} names the finding "${findings}"`);
  return { path, attacker: folder, attack: sentence(attack), cosigners, findings: numbers, defence: sentence(defence) };
}

/**
 * Returns all attacks of a folder, in the order of their paths. Throws for the first malformed
 * header.
 */
export function readAttacks(): readonly Attack[] {
  const files = readdirSync(join(PROJECT, ATTACKS), { recursive: true, encoding: 'utf8' });
  const tests = files.filter((file) => file.endsWith('.test.ts')).map((file) => join(ATTACKS, file));
  return tests.toSorted().map((path) => parseAttack(path, readFileSync(join(PROJECT, path), 'utf8')));
}

type SignOnceMode = (typeof SIGN_ONCE_MODES)[number];

/** n co-signers, of which t sign together. */
export interface Group {
  readonly t: number;
  readonly n: number;
}

export const GROUPS: readonly Group[] = [
  { t: 2, n: 3 },
  { t: 3, n: 3 },
  { t: 3, n: 4 },
  { t: 4, n: 4 },
  { t: 3, n: 5 },
  { t: 4, n: 5 },
  { t: 5, n: 5 },
];
const RECOMMENDED: Group = { t: 3, n: 4 };

/** A set of co-signers is a bit mask. */
function setsOf(n: number, size: number): readonly number[] {
  return Array.from({ length: 2 ** n }, (_, set) => set).filter((set) => sizeOf(set) === size);
}

function sizeOf(set: number): number {
  return set.toString(2).replaceAll('0', '').length;
}

/**
 * Returns the largest size up to n for which no set of this size or a smaller one succeeds; -1
 * where the empty set succeeds.
 */
function largestWithout({ n }: Group, succeeds: (set: number) => boolean): number {
  const sizes = Array.from({ length: n + 1 }, (_, size) => size);
  return sizes.findIndex((size) => setsOf(n, size).some(succeeds)) - 1;
}

/**
 * Returns how many hostile co-signers are too few to sign a payment without approvals: every
 * signature needs an honest co-signer.
 */
export function withstoodForgers(group: Group): number {
  return largestWithout(group, (hostile) => setsOf(group.n, group.t).some((signers) => (signers & ~hostile) === 0));
}

/**
 * Returns how many hostile co-signers are too few to have one payment signed twice. An honest
 * co-signer commits to one payment. A group that signs commits its honest members. Where the policy
 * requires receipts, an honest member also makes every honest co-signer commit. So a payment is
 * signed twice only if two groups have no committed honest co-signer in common.
 */
export function withstoodDoubleSigners(group: Group, signOnce: SignOnceMode): number {
  const signers = setsOf(group.n, group.t);
  const all = 2 ** group.n - 1;
  return largestWithout(group, (hostile) => {
    const honest = all & ~hostile;
    const committed = (set: number) => (signOnce === 'every-cosigner' && (set & honest) !== 0 ? honest : set & honest);
    return signers.some((first) => signers.some((second) => (committed(first) & committed(second)) === 0));
  });
}

/** Returns how many co-signers can be absent without blocking signatures. */
export function harmlessAbsences(group: Group, signOnce: SignOnceMode): number {
  return largestWithout(group, (absent) => {
    const canSign = setsOf(group.n, group.t).some((signers) => (signers & absent) === 0);
    return !canSign || (signOnce === 'every-cosigner' && absent !== 0);
  });
}

/** Returns the text of docs/attacks.md. */
export function attacksDocument(attacks: readonly Attack[]): string {
  return [HEAD, ...attackLists(attacks), GROUPS_HEAD, groupTable(), GROUPS_FOOT, ''].join('\n\n').trimEnd() + '\n';
}

const MAX_COLUMNS = 120;

const HEAD = [
  '# Attacks, and what withstands them',
  paragraph(
    'This document is for auditors. It lists the attacks that the tests try, and states how many hostile or absent co-signers ' +
      'each set-up withstands.',
  ),
  paragraph(
    '`npm run attack-table` writes this file: the lists from the headers of `test/attacks/`, and the table at the end from ' +
      'the rules by which co-signers sign. Do not edit it.',
  ),
  paragraph(
    'Every item is a test that plays the attacker. The test fails when the attacker gets what the defence denies. Where the ' +
      'defence names a documented limit, the test shows the limit.',
  ),
  paragraph(
    '"Hostile co-signers" is the number of co-signers in the hands of the attacker. `t` is the signing threshold, which is ' +
      'the number of co-signers that sign together.',
  ),
].join('\n\n');

/** Returns the number of co-signers in a header as words. */
const HOSTILE: ReadonlyMap<string, string> = new Map([
  ['0', 'none'],
  ['f', 'fewer than t'],
]);

function attackLists(attacks: readonly Attack[]): readonly string[] {
  return Object.entries(ATTACKERS).flatMap(([folder, title]) => {
    const items = attacks
      .filter(({ attacker }) => attacker === folder)
      .map(({ attack, cosigners, defence, path }) =>
        [
          paragraph(`- **${attack}** Hostile co-signers: ${HOSTILE.get(cosigners) ?? cosigners}.`, '  '),
          paragraph(`  Defence: ${defence}`, '  '),
          `  Test: [${path.split('/').slice(-1).join('')}](../${path}).`,
        ].join('\n'),
      );
    return items.length === 0 ? [] : [`## ${title}`, items.join('\n')];
  });
}

const GROUPS_HEAD = [
  '## How many co-signers may be hostile, or absent',
  paragraph(
    'The coordinator is hostile in every row, and the vault counts approvals by devices (`approvalMode: "device"`). Each cell ' +
      'states how many co-signers the set-up withstands. One more breaks the property of the column:',
  ),
  [
    '- **No forgery**: no signature exists that the signers of the vault did not approve.',
    paragraph(
      '- **Paid once**: one approved payment is signed once, by the value of the policy rule `signOnce`.',
      '  ',
    ),
    paragraph('- **Still signs**: signing goes on, by the value of the same rule.', '  '),
  ].join('\n'),
  'The default is the value of `signOnce` that `vault create` writes in device mode.',
].join('\n\n');

function groupTable(): string {
  const head = [
    'Set-up',
    'No forgery',
    'Paid once, `every-cosigner`',
    'Paid once, `quorum`',
    'Still signs, `every-cosigner`',
    'Still signs, `quorum`',
    'Default',
    '',
  ];
  const rows = GROUPS.map((group) => [
    `${group.t} of ${group.n}`,
    `${withstoodForgers(group)} hostile`,
    `${withstoodDoubleSigners(group, 'every-cosigner')} hostile`,
    `${withstoodDoubleSigners(group, 'quorum')} hostile`,
    `${harmlessAbsences(group, 'every-cosigner')} absent`,
    `${harmlessAbsences(group, 'quorum')} absent`,
    `\`${defaultRules('device', { threshold: group.t, count: group.n }).signOnce}\``,
    group.t === RECOMMENDED.t && group.n === RECOMMENDED.n ? 'recommended' : '',
  ]);
  return tableOf([head, ...rows]);
}

const GROUPS_FOOT = [
  paragraph(
    'Example: 2 of 3 with `every-cosigner` withstands one hostile co-signer, and signs nothing while one is absent. Beyond ' +
      'these numbers nothing is claimed: t hostile co-signers have the key. The numbers hold under these conditions:',
  ),
  [
    '- Devices show what they sign. A passkey shows nothing by itself, so it counts here only when it belongs to the ' +
      'approval page, and the page is the released one.',
    '- A policy change protects once co-signers have it in force. With `quorum`, the hostile co-signers and the honest ones ' +
      'that were never shown a revocation count together: t of them sign for the revoked devices. Where the policy before ' +
      'the change has `every-cosigner`, it is enough that one honest co-signer has the change in force. Signers see the ' +
      'statements of the co-signers.',
    '- A co-signer whose storage was set back to an older state counts as hostile in "Paid once".',
    '- A hostile co-signer can also be absent or give no receipt. A co-signer that the signing co-signers banned gives no ' +
      'receipt, and blocks nothing.',
    '- In token mode the coordinator counts the approvals, so "No forgery" holds only while the coordinator and the service ' +
      'keys are not hostile or stolen.',
    '- Making a key, refreshing it, and creating a vault in device mode need every co-signer in every row.',
  ]
    .map((item) => paragraph(item, '  '))
    .join('\n'),
].join('\n\n');

/** Wraps text at spaces. Every line after the first begins with the indent. */
function paragraph(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = /^ */u.exec(text)?.[0] ?? '';
  for (const word of text.trim().split(' ')) {
    const isStart = line.trim() === '';
    if (!isStart && line.length + 1 + word.length > MAX_COLUMNS) {
      lines.push(line);
      line = indent + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Returns the text with a capital first letter and one full stop at the end. */
function sentence(text: string): string {
  // A long header continues on the next line, indented.
  const trimmed = text
    .replaceAll(/\n \* +/gu, ' ')
    .trim()
    .replace(/\.$/u, '');
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`;
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}

if (import.meta.main) {
  mkdirSync(dirname(ATTACKS_DOCUMENT), { recursive: true });
  writeFileSync(ATTACKS_DOCUMENT, attacksDocument(readAttacks()));
}
