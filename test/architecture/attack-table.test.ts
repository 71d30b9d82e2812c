import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import {
  ATTACKS_DOCUMENT,
  attacksDocument,
  GROUPS,
  harmlessAbsences,
  parseAttack,
  readAttacks,
  withstoodDoubleSigners,
  withstoodForgers,
} from './attack-table.ts';

/** Finding 18 is a sentence that the documents lacked. It has no attack. */
const FINDINGS =
  '2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 12 13 14 15 16 19 20 21 F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14'.split(
    ' ',
  );

const PATH = 'test/attacks/coordinator/example.test.ts';
const HEADER = `/**
 * Attack: the coordinator asks twice.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1, 16
 * Defence: a co-signer answers once.
 */
`;

test('docs/attacks.md equals the output of npm run attack-table', () => {
  expect(readFileSync(ATTACKS_DOCUMENT, 'utf8')).toBe(attacksDocument(readAttacks()));
});

test.each(FINDINGS)('finding %s has a test that plays the attacker', (finding) => {
  const files = readAttacks().filter(({ findings }) => findings.includes(finding));
  expect(files).not.toEqual([]);
});

test('the header of an attack file is read with all finding numbers in it', () => {
  expect(parseAttack(PATH, HEADER)).toEqual({
    path: PATH,
    attacker: 'coordinator',
    attack: 'The coordinator asks twice.',
    cosigners: '0',
    findings: ['2.1', '16'],
    defence: 'A co-signer answers once.',
  });
});

test('the attacker in a header may be spelled with hyphens or with spaces', () => {
  const path = 'test/attacks/coordinator-and-cosigner/example.test.ts';
  for (const words of ['coordinator-and-cosigner', 'coordinator and co-signer']) {
    const text = HEADER.replace('Attacker: coordinator', `Attacker: ${words}`);
    expect(parseAttack(path, text).attacker).toBe('coordinator-and-cosigner');
  }
});

test.each<[string, string]>([
  ['nothing', ''],
  ['a header behind an import', `import { test } from 'vitest';\n${HEADER}`],
  ['no defence', HEADER.replace(/ \* Defence.*\n/u, '')],
  ['an empty attack', HEADER.replace('the coordinator asks twice.', '')],
  ['another order', HEADER.replace(/( \* Finding.*\n)( \* Defence.*\n)/u, '$2$1')],
  ['the attacker of another folder', HEADER.replace('Attacker: coordinator', 'Attacker: network')],
  ['a number of co-signers in words', HEADER.replace('Co-signers: 0', 'Co-signers: none')],
  ['a finding that does not exist', HEADER.replace('2.1, 16', '2.12')],
  ['a number that is no finding', HEADER.replace('2.1, 16', '11')],
])('a file with %s is refused by its path', (_name, text) => {
  expect(() => parseAttack(PATH, text)).toThrow(PATH);
});

test('an attack file in a folder that stands for no attacker is refused', () => {
  expect(() =>
    parseAttack('test/attacks/mallory/example.test.ts', HEADER.replace('coordinator\n', 'mallory\n')),
  ).toThrow();
});

test.each(GROUPS)('$t of $n co-signers: the formulas give the same numbers as the signing rules', (group) => {
  const { t, n } = group;
  expect(withstoodForgers(group)).toBe(t - 1);
  expect(withstoodDoubleSigners(group, 'every-cosigner')).toBe(t - 1);
  expect(withstoodDoubleSigners(group, 'quorum')).toBe(Math.min(2 * t - n - 1, t - 1));
  expect(harmlessAbsences(group, 'every-cosigner')).toBe(0);
  expect(harmlessAbsences(group, 'quorum')).toBe(n - t);
});

test.each(GROUPS)('$t of $n co-signers: a new vault in device mode withstands one hostile co-signer', (group) => {
  const { signOnce } = defaultRules('device', { threshold: group.t, count: group.n });
  expect(withstoodDoubleSigners(group, signOnce)).toBeGreaterThanOrEqual(1);
});
