import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { conclave } from '../../cli/conclave.ts';

const COMMANDS = [
  'admin',
  'device',
  'cosigner-identity',
  'doctor',
  'push-keys',
  'recover',
  'restore-drill',
  'verify-exports',
  'verify-history',
  'why',
];

interface Ended {
  readonly code: number | string;
  readonly output: string;
  readonly errors: string;
}

beforeEach(() => {
  for (const name of ['CONCLAVE_URL', 'CONCLAVE_TOKEN', 'CONCLAVE_SERVICE_KEY']) vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  process.exitCode = 0;
});

/**
 * Runs the command line inside this process: a new process for each call would take half a second.
 */
async function run(...args: readonly string[]): Promise<Ended> {
  process.exitCode = 0;
  const [output, errors] = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  await conclave(args);
  const said = (spy: typeof output) => (spy?.mock.calls ?? []).map(([line]) => `${String(line)}\n`).join('');
  return { code: process.exitCode, output: said(output), errors: said(errors) };
}

/** Runs the command line as a separate process. */
function spawned(args: readonly string[], input: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['cli/conclave.ts', ...args], (error, output, errors) => {
      resolve({ code: error?.code ?? 0, output, errors });
    });
    child.stdin?.end(input);
  });
}

test('--help lists every command', async () => {
  const { code, output } = await run('--help');
  expect(code).toBe(0);
  expect(output.match(/^ {2}[a-z-]+(?= )/gm)?.map((line) => line.trim())).toEqual(COMMANDS);
});

test('each command shows its own usage and does nothing else', async () => {
  for (const name of COMMANDS) {
    const { code, output, errors } = await run(name, '--help');
    expect([name, code, errors]).toEqual([name, 0, '']);
    expect(output).toMatch(new RegExp(`conclave( --|\\.ts) ${name}`));
    vi.restoreAllMocks();
  }
});

test.each([
  ['no command', []],
  ['an unknown command', ['destroy']],
  ['the name of a property of every object', ['constructor']],
  ['an unknown command of a command', ['admin', 'vault', 'destroy']],
  ['a name of a property behind a command', ['device', 'constructor', '--bundled-node']],
  ['an unknown option', ['device', 'show', '--colour', 'red', '--bundled-node']],
  ['a missing option', ['recover', 'new', '--bundled-node']],
  ['no files', ['verify-history']],
  ['no address', ['push-keys', 'nobody']],
  ['a superfluous argument', ['restore-drill', 'now']],
  ['no service', ['admin', 'status', 'show']],
])('%s ends with exit code 2 and the usage', async (_what, args) => {
  const { code, output, errors } = await run(...args);
  expect([code, output]).toEqual([2, '']);
  expect(errors).toMatch(/ (?:npm run|node) /);
});

test('a failed command ends with exit code 1 and prints the reason on standard error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-cli-'));
  try {
    const page = join(folder, 'page.json');
    await writeFile(page, JSON.stringify({ history: [{ seq: 2, action: 'create' }] }));
    const broken = await run('verify-history', page);
    expect(broken).toEqual({ code: 1, output: '', errors: 'Line 2 (create) is at the position of line 1.\n' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the secret of a command is sent over https, or to this machine alone', async () => {
  vi.stubEnv('CONCLAVE_SERVICE_KEY', 'service_key_of_a_monitor');
  const called = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({}));
  for (const url of [
    'http://conclave.test',
    'http://127.0.0.1.conclave.test',
    'ftp://conclave.test',
    'conclave.test',
  ]) {
    vi.stubEnv('CONCLAVE_URL', url);
    const { code, errors } = await run('admin', 'dead-letter', 'list');
    expect([url, code, errors.split('\n')[0]]).toEqual([
      url,
      2,
      'CONCLAVE_URL must be an https URL, or http of this machine.',
    ]);
  }
  expect(called).not.toHaveBeenCalled();
});

test('a refusal for the scope of the service key names the scope and the setting on standard error', async () => {
  vi.stubEnv('CONCLAVE_URL', 'https://conclave.test');
  vi.stubEnv('CONCLAVE_SERVICE_KEY', 'service_key_of_a_monitor');
  const refusal = { code: 'insufficient-scope', scope: 'people' };
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(refusal, { status: 403 }));
  const { code, output, errors } = await run('admin', 'user', 'disable', '--user', 'usr_1');
  expect([code, JSON.parse(output)]).toEqual([1, refusal]);
  expect(errors).toMatch(/^The service key does not have the scope 'people'.*SERVICE_KEY_HASHES\.\n$/);
});

test('a separate process has these exit codes, and prints only the answer on standard output', async () => {
  const ended = await Promise.all([
    spawned(['cosigner-identity'], '01'.repeat(32)),
    spawned(['cosigner-identity'], 'no secret'),
    spawned(['cosigner'], ''),
  ]);
  expect(ended.map(({ code }) => code)).toEqual([0, 1, 2]);
  expect(ended.map(({ errors }) => errors === '')).toEqual([true, false, false]);
  expect(ended.map(({ output }) => output === '')).toEqual([false, true, true]);
  expect(Object.keys(JSON.parse(ended[0]?.output ?? '') as object)).not.toEqual([]);
});
