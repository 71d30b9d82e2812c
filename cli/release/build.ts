import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildWorker } from '../../local/stack/bundle.ts';

/** For each part of a release, the source files in it. */
export type SourcesOfParts = Readonly<Record<string, readonly string[]>>;

type Environment = Readonly<Record<string, string>>;

/**
 * Builds everything that is deployed into a folder: both Workers, the dashboard and the approval
 * page. What the builds write beside it (source maps, lists of inputs, a note of wrangler) names
 * folders or times of the build and is not uploaded, so it is removed.
 *
 * @param environment variables beside those of this process
 */
export async function buildRelease(
  checkout: string,
  folder: string,
  environment: Environment,
): Promise<SourcesOfParts> {
  const env = { ...process.env, ...environment };

  async function worker(config: string, part: string, options: readonly string[] = []): Promise<readonly string[]> {
    const outdir = join(folder, part);
    await buildWorker(join(checkout, config), outdir, { options: ['--metafile', ...options], env });
    const sources = bundledInputs(readFileSync(join(outdir, 'bundle-meta.json'), 'utf8'));
    removeFiles(outdir, /^(README\.md|bundle-meta\.json|.*\.map)$/);
    return sources;
  }

  async function pages(mode: string, part: string): Promise<readonly string[]> {
    const outdir = join(folder, part);
    // A hidden source map changes no byte of the script, because the script does not name it.
    const options = ['--mode', mode, '--outDir', outdir, '--emptyOutDir', '--sourcemap', 'hidden'];
    const vite = join(checkout, 'node_modules', 'vite', 'bin', 'vite.js');
    await promisify(execFile)(process.execPath, [vite, 'build', ...options], { cwd: checkout, env });
    return removeFiles(outdir, /\.map$/).flatMap((map) => (JSON.parse(map) as { sources: string[] }).sources);
  }

  const dashboard = pages('production', 'dashboard');
  const [coordinator, cosigner, dashboardSources, approvalPage] = await Promise.all([
    dashboard.then(() => worker('wrangler.toml', 'coordinator', ['--assets', join(folder, 'dashboard')])),
    worker('deploy/cosigner.toml', 'cosigner'),
    dashboard,
    pages('approval-page', 'approval-page'),
  ]);
  return { coordinator, cosigner, dashboard: dashboardSources, 'approval-page': approvalPage };
}

interface Metafile {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, { bytesInOutput: number }>> }>>;
}

/**
 * Returns the inputs with at least one byte in the bundle. The source map of esbuild is no
 * alternative: it names the sources that packages were compiled from, also such outside of them.
 */
function bundledInputs(metafile: string): readonly string[] {
  return Object.values((JSON.parse(metafile) as Metafile).outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

/** Removes the files of a folder whose path in it matches, and returns their texts. */
function removeFiles(folder: string, pattern: RegExp): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name));
  return names.map((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    rmSync(join(folder, name));
    return text;
  });
}
