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
  const built = building.get(outdir) ?? build(config, outdir, isReadable);
  building.set(outdir, built);
  await built;
  return file;
}

async function build(config: string, outdir: string, isReadable: boolean): Promise<void> {
  const size = isReadable ? [] : ['--minify'];
  const words = [WRANGLER, 'deploy', '--dry-run', ...size, '--config', config, '--outdir', outdir];
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' };
  await promisify(execFile)(process.execPath, words, { env }).catch((error: Error & { stdout?: string }) => {
    throw new Error(`${config} could not be bundled:\n${error.stdout ?? ''}${error.message}`);
  });
}
