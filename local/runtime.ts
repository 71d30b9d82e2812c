import { dirname, join } from 'node:path';
import type { MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler';
import { bundleScript } from './bundle.ts';
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

/** Starts the bundles that would be deployed, all in one workerd. `wrangler dev` would cost twenty times the runtime. */
export async function startRuntime(configs: readonly string[], folder: string): Promise<Runtime> {
  const ports: number[] = [];
  const workers: unknown[] = [];
  for (const config of configs) {
    const { workerOptions, main } = unstable_getMiniflareWorkerOptions(config);
    const script = bundleScript(config, { main: main ?? 'worker.ts', folder: join(folder, 'bundle') });
    const port = await availablePort(0);
    ports.push(port);
    const { rootPath: _rootPath, modulesRules: _modulesRules, ...bindings } = workerOptions as Record<string, unknown>;
    workers.push({
      ...bindings,
      name: nameIn(config),
      modules: true,
      modulesRoot: dirname(script),
      scriptPath: script,
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

function nameIn(config: string): string {
  const { name } = unstable_readConfig({ config });
  if (name === undefined) throw new Error(`${config} has no name`);
  return name;
}
