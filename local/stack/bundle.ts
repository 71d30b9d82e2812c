import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

export const WRANGLER = resolve(import.meta.dirname, '..', '..', 'node_modules', 'wrangler', 'bin', 'wrangler.js');

/** A folder with bundles that somebody has built already for many stacks; a test run does. */
export const READY_BUNDLES = 'CONCLAVE_BUNDLES';

/**
 * Builds what would be deployed into a folder, unless it is there, and gives the path of the script. Three co-signers are three
 * deployments of one bundle, so the second one finds it. Throws what wrangler says.
 *
 * @param script.isReadable with the names of functions, for whoever looks at what they cost; never one that was built for many stacks
 */
export function bundle(
  config: string,
  script: { readonly main: string; readonly folder: string; readonly isReadable?: boolean },
): string {
  const { folder, isReadable = false } = script;
  const name = basename(script.main, '.ts');
  const outdir = join(isReadable ? folder : (process.env[READY_BUNDLES] ?? folder), name);
  const file = join(outdir, `${name}.js`);
  if (existsSync(file)) return file;
  const size = isReadable ? [] : ['--minify'];
  const run = spawnSync(
    process.execPath,
    [WRANGLER, 'deploy', '--dry-run', ...size, '--config', config, '--outdir', outdir],
    { encoding: 'utf8', env: { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' } },
  );
  if (run.status !== 0) throw new Error(`${config} could not be bundled:\n${run.stdout}${run.stderr}`);
  return file;
}
