import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWorker, READY_BUNDLES } from '#local/stack/bundle.ts';
import { COMPILED } from '#local/stack/stack.ts';
import { RUN_FOLDER } from './once-in-run.ts';

const LIMITED = join(import.meta.dirname, '../limits');

/**
 * Makes the folder of a test run, with both Workers built once for all stacks of the run. They have
 * the limits of the platform.
 */
export async function setup(): Promise<() => Promise<void>> {
  // Two projects of one run call this setup.
  if (process.env[RUN_FOLDER] !== undefined) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), 'conclave-tests-'));
  await Promise.all([
    limitedBundle('wrangler.toml', { main: 'worker', limited: 'limited-coordinator', folder }),
    limitedBundle('deploy/cosigner.toml', { main: 'cosigner-worker', limited: 'limited-cosigner', folder }),
  ]);
  process.env[READY_BUNDLES] = folder;
  process.env[RUN_FOLDER] = folder;
  // Commands that tests start are separate processes, which compile the same files.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  return () => rm(folder, { recursive: true, force: true });
}

/** Builds a Worker with limits, in the place of the Worker itself. */
async function limitedBundle(
  config: string,
  names: { readonly main: string; readonly limited: string; readonly folder: string },
): Promise<void> {
  const outdir = join(names.folder, names.main);
  await buildWorker(config, outdir, { options: [join(LIMITED, `${names.limited}.ts`)] });
  await rename(join(outdir, `${names.limited}.js`), join(outdir, `${names.main}.js`));
}
