import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const WRANGLER = resolve(import.meta.dirname, '..', '..', 'node_modules', 'wrangler', 'bin', 'wrangler.js');

/** A folder with bundles that another process has built for many stacks, such as a test run. */
export const READY_BUNDLES = 'CONCLAVE_BUNDLES';

/** The bundles that this process is building, or has built, by their folder. */
const building = new Map<string, Promise<void>>();

/**
 * Builds the deployed bundle into a folder, unless it exists, and returns the path of the script.
 * Three co-signers are three deployments of one bundle, so it is built once for all of them. Throws
 * the errors of wrangler.
 *
 * @param script.isReadable with the names of functions, for a profile; never one that was built for
 * many stacks
 */
export async function bundle(
  config: string,
  script: { readonly main: string; readonly folder: string; readonly isReadable?: boolean },
): Promise<string> {
  const { folder, isReadable = false } = script;
  const name = basename(script.main, '.ts');
  const outdir = join(isReadable ? folder : (process.env[READY_BUNDLES] ?? folder), name);
  const file = join(outdir, `${name}.js`);
  if (!building.has(outdir) && existsSync(file)) return file;
  const options = isReadable ? ['--no-minify'] : [];
  const built = building.get(outdir) ?? buildWorker(config, outdir, { options });
  building.set(outdir, built);
  await built;
  return file;
}

/** How to build a Worker: further options of wrangler, and the environment. */
interface WorkerBuild {
  readonly options?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Builds a Worker into a folder as a deployment does, without an account. Throws the errors of
 * wrangler.
 */
export async function buildWorker(config: string, outdir: string, build: WorkerBuild = {}): Promise<void> {
  const { options = [], env = process.env } = build;
  const words = [WRANGLER, 'deploy', '--dry-run', ...options, '--config', config, '--outdir', outdir];
  const quiet = { ...env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' };
  await promisify(execFile)(process.execPath, words, { env: quiet }).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${config} could not be bundled:\n${error.stdout ?? ''}${error.message}`);
  });
}
