import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hashOfSources, holdSources, SourcesChanged } from './sources.ts';

let root = '';
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a run whose sources change, appear or vanish fails, and one whose files are only touched does not', () => {
  root = mkdtempSync(join(tmpdir(), 'conclave-sources-'));
  mkdirSync(join(root, 'src/mpc'), { recursive: true });
  const [file, other] = [join(root, 'src/mpc/recovery.ts'), join(root, 'src/other.ts')];
  writeFileSync(file, "['epoch', epoch]");
  const start = hashOfSources(root);
  const holds = () => holdSources(start, root);
  holds();
  utimesSync(file, 1, 1);
  holds();
  writeFileSync(file, "['epocH', epoch]");
  expect(holds).toThrow(SourcesChanged);
  writeFileSync(file, "['epoch', epoch]");
  holds();
  writeFileSync(other, '');
  expect(holds).toThrow(SourcesChanged);
  rmSync(other);
  holds();
  rmSync(file);
  expect(holds).toThrow(SourcesChanged);
});
