import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler';
import { availablePort } from './port.ts';

export interface Runtime {
  readonly miniflare: Miniflare;
  /** Of each configuration, in the order given: a socket of workerd itself, nothing of the simulator is in the way. */
  readonly ports: readonly number[];
  readonly stop: () => Promise<void>;
}

type V4Options = Parameters<typeof convertV4MiniflareOptions>[0];

// It would tell on standard output where it has read secrets, at every start.
process.env['WRANGLER_LOG'] ??= 'warn';

const WRANGLER = resolve(import.meta.dirname, '..', 'node_modules', 'wrangler', 'bin', 'wrangler.js');

/** Starts the bundles that would be deployed, all in one workerd. `wrangler dev` would cost twenty times the runtime. */
export async function startRuntime(configs: readonly string[], folder: string): Promise<Runtime> {
  const ports: number[] = [];
  const workers: unknown[] = [];
  for (const config of configs) {
    const { workerOptions, main } = unstable_getMiniflareWorkerOptions(config);
    const outdir = join(folder, 'bundle', basename(main ?? 'worker', '.ts'));
    // Three co-signers are three deployments of one bundle.
    if (!existsSync(outdir)) bundle(config, outdir);
    const port = await availablePort(0);
    ports.push(port);
    const { rootPath: _rootPath, modulesRules: _modulesRules, ...bindings } = workerOptions as Record<string, unknown>;
    workers.push({
      ...bindings,
      name: nameIn(config),
      modules: true,
      modulesRoot: outdir,
      scriptPath: join(outdir, basename(main ?? '').replace(/\.ts$/, '.js')),
      unsafeDirectSockets: [{ host: '127.0.0.1', port }],
    });
  }
  const shared = {
    host: '127.0.0.1',
    port: await availablePort(0),
    cf: false,
    log: new Log(LogLevel.WARN),
    resourcePersistencePath: join(folder, 'state'),
  };
  const options: MiniflareOptions = convertV4MiniflareOptions({ ...shared, workers } as unknown as V4Options);
  const miniflare = new Miniflare(options);
  await miniflare.ready;
  return { miniflare, ports, stop: () => miniflare.dispose() };
}

function bundle(config: string, outdir: string): void {
  const built = spawnSync(
    process.execPath,
    [WRANGLER, 'deploy', '--dry-run', '--minify', '--config', config, '--outdir', outdir],
    { encoding: 'utf8', env: { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' } },
  );
  if (built.status !== 0) throw new Error(`${config} could not be bundled:\n${built.stdout}${built.stderr}`);
}

function nameIn(config: string): string {
  const { name } = unstable_readConfig({ config });
  if (name === undefined) throw new Error(`${config} has no name`);
  return name;
}
