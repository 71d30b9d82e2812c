import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

export const WRANGLER = resolve(import.meta.dirname, '..', 'node_modules', 'wrangler', 'bin', 'wrangler.js');

/** What this process has built already: a restart runs the same code. */
const built = new Set<string>();

/**
 * Builds what would be deployed into a folder and gives the path of the script. Three co-signers are three deployments of one
 * bundle, so the second one finds it there. Throws what wrangler says.
 */
export function bundle(config: string, folder: string): string {
  const { main }: { main: string } = JSON.parse(readFileSync(config, 'utf8'));
  return bundleScript(config, { main, folder });
}

/** The same for a configuration that is not JSON. */
export function bundleScript(config: string, script: { readonly main: string; readonly folder: string }): string {
  const name = basename(script.main, '.ts');
  const outdir = join(script.folder, name);
  const file = join(outdir, `${name}.js`);
  if (built.has(file) && existsSync(file)) return file;
  const run = spawnSync(
    process.execPath,
    [WRANGLER, 'deploy', '--dry-run', '--minify', '--config', config, '--outdir', outdir],
    { encoding: 'utf8', env: { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' } },
  );
  if (run.status !== 0) throw new Error(`${config} could not be bundled:\n${run.stdout}${run.stderr}`);
  built.add(file);
  return file;
}

/**
 * Makes a configuration run its bundle as it is. Otherwise `wrangler dev` watches the sources and every folder on the way to
 * them, and a file that a test runner writes beside them restarts the Workers in the middle of a request.
 */
export function runBundled(config: string, folder: string): void {
  const settings: Record<string, unknown> = JSON.parse(readFileSync(config, 'utf8'));
  const main = bundle(config, folder);
  writeFileSync(config, JSON.stringify({ ...settings, main, no_bundle: true }, null, 2));
}
