import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWorker, READY_BUNDLES } from '#local/stack/bundle.ts';
import { COMPILED } from '#local/stack/stack.ts';
import { RUN_FOLDER } from './once-in-run.ts';
import { hashOfSources, holdSources, RUN_SOURCES } from './sources.ts';

const LIMITED = join(import.meta.dirname, '../limits');

/** The process of the run that made the folder. */
const RUN_PROCESS = 'CONCLAVE_TEST_RUN_PROCESS';
/** Set to `true` for a run with the bundles of another run. */
const REUSED = 'CONCLAVE_REUSED_BUNDLES';

/**
 * Makes the folder of a test run, with both Workers built once for all stacks of the run. They have
 * the limits of the platform. The run fails when the sources change before its end, because its
 * test files would read others than it has bundled.
 */
export async function setup(): Promise<() => Promise<void>> {
  if (process.env[RUN_FOLDER] !== undefined) {
    // Two projects of one run call this setup. Another run may have other sources.
    if (process.env[RUN_PROCESS] === String(process.pid) || process.env[REUSED] === 'true') return async () => {};
    throw new Error(`${RUN_FOLDER} is that of another run. Unset it, or set ${REUSED}=true to use its bundles.`);
  }
  const sources = hashOfSources();
  const folder = await mkdtemp(join(tmpdir(), 'conclave-tests-'));
  await Promise.all([
    limitedBundle('wrangler.toml', { main: 'worker', limited: 'limited-coordinator', folder }),
    limitedBundle('deploy/cosigner.toml', { main: 'cosigner-worker', limited: 'limited-cosigner', folder }),
  ]);
  process.env[READY_BUNDLES] = folder;
  process.env[RUN_FOLDER] = folder;
  process.env[RUN_PROCESS] = String(process.pid);
  holdSources(sources);
  process.env[RUN_SOURCES] = sources;
  // Commands that tests start are separate processes, which compile the same files.
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  return async () => {
    await rm(folder, { recursive: true, force: true });
    holdSources(sources);
  };
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
