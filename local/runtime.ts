import { dirname, join } from 'node:path';
import type { MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler';
import { bundle } from './bundle.ts';
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

export interface RuntimeOptions {
  /** Where bundles and state are kept. */
  readonly folder: string;
  /** Of the first Worker; a free one when absent. */
  readonly port?: number;
  /** Where `/cdn-cgi/local/scheduled` runs the first Worker's cron trigger; a free one when absent. */
  readonly cronPort?: number;
  /** Positions of Workers that do not run, as if their machines were down. */
  readonly absent?: readonly number[];
}

/** What a service binding gives when nobody is there. */
const NOBODY = `export default { fetch: () => new Response('nobody is there', { status: 503 }) };`;

/**
 * Starts the bundles that would be deployed, all in one workerd, as they are: `wrangler dev` costs twenty times the runtime,
 * watches sources and puts a proxy in front that drops a request when the runtime is busy for seconds.
 */
export async function startRuntime(configs: readonly string[], options: RuntimeOptions): Promise<Runtime> {
  const ports: number[] = [];
  const workers: unknown[] = [];
  for (const [i, config] of configs.entries()) {
    const port = await availablePort(i === 0 ? (options.port ?? 0) : 0);
    ports.push(port);
    const absent = options.absent?.includes(i) === true;
    workers.push(
      absent ? { name: nameIn(config), modules: true, script: NOBODY } : worker(config, { ...options, port }),
    );
  }
  const shared = {
    host: '127.0.0.1',
    port: await availablePort(options.cronPort ?? 0),
    cf: false,
    unsafeTriggerHandlers: true,
    log: new Log(LogLevel.WARN),
    resourcePersistencePath: statePath(options.folder),
  };
  const converted: MiniflareOptions = convertV4MiniflareOptions({ ...shared, workers } as unknown as V4Options);
  const miniflare = new Miniflare(converted);
  await miniflare.ready;
  return { miniflare, ports, stop: () => miniflare.dispose() };
}

/** Where `wrangler --persist-to FOLDER/state` keeps the same. */
function statePath(folder: string): string {
  return join(folder, 'state', 'v3');
}

function worker(config: string, { folder, port }: { readonly folder: string; readonly port: number }): unknown {
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(config);
  const script = bundle(config, { main: main ?? 'worker.ts', folder: join(folder, 'bundle') });
  const { rootPath: _rootPath, modulesRules: _modulesRules, ...bindings } = workerOptions as Record<string, unknown>;
  return {
    ...bindings,
    name: nameIn(config),
    modules: true,
    modulesRoot: dirname(script),
    scriptPath: script,
    unsafeDirectSockets: [{ host: '127.0.0.1', port }],
  };
}

function nameIn(config: string): string {
  const { name } = unstable_readConfig({ config });
  if (name === undefined) throw new Error(`${config} has no name`);
  return name;
}
