import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, READY_BUNDLES } from '#local/stack/bundle.ts';
import { COMPILED } from '#local/stack/stack.ts';
import { RUN_FOLDER } from './once-in-run.ts';

/** Makes the folder of a test run, with both Workers built once for all stacks of the run. */
export async function setup(): Promise<() => Promise<void>> {
  // Two projects of one run call this setup.
  if (process.env[RUN_FOLDER] !== undefined) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), 'conclave-tests-'));
  await Promise.all([
    bundle('wrangler.toml', { main: 'worker.ts', folder }),
    bundle('deploy/cosigner.toml', { main: 'cosigner-worker.ts', folder }),
  ]);
  process.env[READY_BUNDLES] = folder;
  process.env[RUN_FOLDER] = folder;
  // Commands that tests start are separate processes, which compile the same files.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  return () => rm(folder, { recursive: true, force: true });
}
