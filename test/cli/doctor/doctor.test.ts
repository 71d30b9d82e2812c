import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { conclave } from '../../../cli/conclave.ts';
import type { Finding } from '../../../cli/doctor/finding.ts';
import type { Deployment, WorkerSettings } from './good-deployment.ts';
import { goodDeployment } from './good-deployment.ts';
import type { RefusedSetting } from './wrong-settings.ts';
import { FOUND, REFUSED } from './wrong-settings.ts';

/** Covers that `doctor` names wrong settings before a deployment, and shows no value. */

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
});

interface Ended {
  readonly code: number | string;
  readonly output: string;
  readonly errors: string;
}

async function doctor(...args: readonly string[]): Promise<Ended> {
  process.exitCode = 0;
  const [output, errors] = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  await conclave(['doctor', ...args]);
  const text = (spy: typeof output) => (spy?.mock.calls ?? []).map(([line]) => `${String(line)}\n`).join('');
  const ended = { code: process.exitCode, output: text(output), errors: text(errors) };
  vi.restoreAllMocks();
  return ended;
}

/** Writes the files of a Worker. Returns the paths of its configuration and of its secrets. */
async function written({ secrets, ...file }: WorkerSettings) {
  const paths = { file: join(folder, `${file.name}.json`), secrets: join(folder, `${file.name}-secrets.json`) };
  await writeFile(paths.file, JSON.stringify(file));
  await writeFile(paths.secrets, JSON.stringify(secrets));
  return paths;
}

/** Returns the findings by the files alone, by each file with its secrets, or by all files. */
async function findingsOf(deployment: Deployment, needs: RefusedSetting['needs']) {
  const workers = await Promise.all([deployment.coordinator, ...deployment.cosigners].map(written));
  const runs =
    needs === 'files'
      ? [workers.flatMap(({ file }) => ['--config', file])]
      : workers.map(({ file, secrets }) => ['--config', file, ...(needs === 'secrets' ? ['--secrets', secrets] : [])]);
  const ended: Ended[] = [];
  for (const args of runs) ended.push(await doctor(...args, '--json'));
  const findings = ended.flatMap(({ output }) => (JSON.parse(output) as { findings: Finding[] }).findings);
  return { findings, codes: ended.map(({ code }) => code), text: ended.map(({ output }) => output).join('') };
}

test.each(['file', 'secrets', 'files'] as const)('a good deployment has no finding by its %s', async (needs) => {
  const { findings, codes } = await findingsOf(goodDeployment(), needs);
  expect(findings).toEqual([]);
  expect(new Set(codes)).toEqual(new Set([0]));
});

test.each(REFUSED.map((row) => [`${row.number} ${row.what}`.trim(), row] as const))(
  '%s: named before a deployment',
  async (_title, { name, needs, level, change }) => {
    const deployment = goodDeployment();
    change(deployment);
    const { findings, codes, text } = await findingsOf(deployment, needs);
    expect(findings.map((one) => [one.level, one.name])).toContainEqual([level, name]);
    expect(codes.includes(1)).toBe(level === 'fault');
    for (const worker of [deployment.coordinator, ...deployment.cosigners])
      for (const value of Object.values(worker.secrets)) if (value.length > 8) expect(text).not.toContain(value);
  },
);

test('every wrong setting of the audit has a row', () => {
  const numbers = [...REFUSED, ...FOUND].flatMap(({ number }) => (number === '' ? [] : [number]));
  const expected = [...range(1, 46), ...range(50, 85)].map((number) => String(number).padStart(2, '0'));
  expect(numbers.toSorted()).toEqual(expected);
});

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

test('the table of the settings document has the same rows', async () => {
  const text = await readFile('docs/settings.md', 'utf8');
  const [, table = ''] = text.split('## Wrong settings');
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (Wrong|-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const BY = { file: '`--config`', secrets: '`--secrets`', files: '`--config` of all' };
  expect(rows).toEqual([
    ...REFUSED.map(({ what, needs, level }) => [what, level === 'fault' ? BY[needs] : `${BY[needs]}, a warning`]),
    ...FOUND.map(({ what, alert, shown }) => [what, alert === 'none' ? (shown ?? '') : `alert \`${alert}\``]),
  ]);
});

test('a file that is no configuration, and options that do not fit, exit with 2 or 1 and show no content', async () => {
  const path = join(folder, 'other.toml');
  await writeFile(path, 'name = "secret-content\n');
  const broken = await doctor('--config', path);
  expect([broken.code, broken.errors]).toEqual([1, `${path} must be TOML.\n`]);
  await writeFile(path, 'name = "x"\n');
  expect((await doctor('--config', path)).errors).toContain("'durable_objects' is not valid");
  expect((await doctor('--secrets', path)).code).toBe(2);
  expect((await doctor('--unknown')).code).toBe(2);
});

test('the text lists each finding, and the sum', async () => {
  const deployment = goodDeployment();
  deployment.coordinator.triggers.crons = [];
  const { file } = await written(deployment.coordinator);
  const { output, code } = await doctor('--config', file);
  expect([code, output]).toEqual([
    1,
    'fault    conclave: triggers: No cron runs each minute, so lost work never goes on and no alert is found.\n1 faults, 0 warnings\n',
  ]);
});
