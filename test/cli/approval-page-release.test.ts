import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RELEASE, releaseHash, releaseOf } from '#cli/approval-page-release.ts';

const PROJECT = resolve(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'conclave-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Builds the page in a checkout under the given environment. Returns the files of the build. */
function built(project: string, name: string, environment: Readonly<Record<string, string>>): string {
  const outDir = join(folder, name);
  const vite = join(PROJECT, 'node_modules', 'vite', 'bin', 'vite.js');
  const order = [vite, 'build', '--mode', 'approval-page', '--outDir', outDir];
  execFileSync(process.execPath, order, { cwd: project, env: environment });
  return outDir;
}

test('two folders build the same bytes of the page, and they equal the committed release', () => {
  const elsewhere = join(folder, 'another checkout');
  for (const name of ['src', 'config', 'vite.config.ts', 'package.json', 'tsconfig.json']) {
    cpSync(join(PROJECT, name), join(elsewhere, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(elsewhere, 'node_modules'));
  const here = built(PROJECT, 'here', { NODE_ENV: 'development', TZ: 'Asia/Tokyo' });
  const there = built(elsewhere, 'there', {});
  expect(releaseOf(there)).toBe(releaseOf(here));
  // After a change of the page, run `npm run approval-page:hash -- --write` to record its new
  // release.
  expect(releaseOf(here)).toBe(readFileSync(RELEASE, 'utf8'));
});

test('a release names every file, and changes with every byte', () => {
  const release = readFileSync(RELEASE, 'utf8');
  const names = release.split('\n').map((line) => line.split('  ')[1]);
  expect(names).toEqual(['_headers', 'approval-page.css', 'approval-page.js', 'index.html', undefined]);
  expect(releaseHash(release)).not.toBe(releaseHash(release.replace('  _headers', '  headers')));
});

test('the page connects only to its own host, runs only its own script, and refuses to be framed', () => {
  const page = readFileSync(join(PROJECT, 'src/approval-page/index.html'), 'utf8');
  const headers = readFileSync(join(PROJECT, 'src/approval-page/public/_headers'), 'utf8');
  for (const text of [page, headers]) {
    expect(text).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'",
    );
    expect(text).not.toMatch(/unsafe-inline|unsafe-eval|https?:/);
  }
  expect(headers).toContain("frame-ancestors 'none'");
  expect(headers).toContain('X-Frame-Options: DENY');
});
