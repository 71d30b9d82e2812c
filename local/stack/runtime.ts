import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import { bundle } from './bundle.ts';
import { migrationWorker } from './migrations.ts';
import type { WorkerOptions } from './worker-options.ts';
import { workerOptionsOf } from './worker-options.ts';

export interface Runtime {
  readonly miniflare: Miniflare;
  /** Of each configuration, in the order given: a socket of workerd itself, nothing of the simulator is in the way. */
  readonly ports: readonly number[];
  /** Where `/cdn-cgi/local/scheduled` runs the first Worker's cron trigger. */
  readonly cronPort: number;
  readonly stop: () => Promise<void>;
}

type V4Options = Parameters<typeof convertV4MiniflareOptions>[0];

/**
 * On a machine of two cores V8 has one thread beside the main one. While that one compiles and waits for memory to be collected, workerd
 * sweeps on the main one and waits for it: both for ever (seen in one of ten runs that sign much). Without threads of its own the
 * collector waits for nobody. The runtime of the platform is another matter, and so is what it costs there.
 */
process.env['MINIFLARE_WORKERD_V8_FLAGS'] ??= '--single-threaded-gc';

export interface RuntimeOptions {
  /** Where bundles and state are kept. */
  readonly folder: string;
  /** Of the first Worker; a free one when absent, as for all others. One that is in use is an error. */
  readonly port?: number;
  /** Positions of Workers that do not run, as if their machines were down. */
  readonly absent?: readonly number[];
  /** Where V8's inspector of every isolate listens: 0 for any port, nowhere when absent. */
  readonly inspectorPort?: number;
  /** Whether functions keep their names; they are what would be deployed when absent. */
  readonly isReadable?: boolean;
}

/** What a service binding gives when nobody is there. */
const ABSENT_WORKER = `export default { fetch: () => new Response('The Worker is not running.', { status: 503 }) };`;

/**
 * Starts the bundles that would be deployed, all in one workerd, as they are, and brings their databases to the newest schema. `wrangler dev`
 * costs twenty times the runtime, watches sources and puts a proxy in front that drops a request when the runtime is busy for seconds.
 */
export async function startRuntime(configs: readonly string[], options: RuntimeOptions): Promise<Runtime> {
  const read = configs.map((config) => ({ config, ...workerOptionsOf(config) }));
  const workers = await Promise.all(
    read.map(async (worker, i) => {
      const isAbsent = options.absent?.includes(i) === true;
      return {
        ...(isAbsent
          ? { modules: true, script: ABSENT_WORKER }
          : { ...worker.options, ...(await scriptOf(worker.config, worker, options)) }),
        name: worker.name,
        // 0: the runtime takes a port as it opens it. One that is looked for before may be somebody else's by then.
        unsafeDirectSockets: [{ host: '127.0.0.1', port: i === 0 ? (options.port ?? 0) : 0 }],
      };
    }),
  );
  const migrations = read
    .flatMap(({ databases }) => databases)
    .map((database, i) => ({
      ...migrationWorker(database),
      name: `migrations-${i}`,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    }));
  const shared = {
    host: '127.0.0.1',
    port: 0,
    cf: false,
    unsafeTriggerHandlers: true,
    log: new Log(LogLevel.WARN),
    ...(options.inspectorPort === undefined ? {} : { inspectorPort: options.inspectorPort }),
    resourcePersistencePath: statePath(options.folder),
  };
  const converted: MiniflareOptions = convertV4MiniflareOptions({
    ...shared,
    workers: [...workers, ...migrations],
  } as unknown as V4Options);
  const miniflare = new Miniflare(converted);
  const cronPort = portOf(await miniflare.ready);
  for (const { name } of migrations) {
    const response = await fetch(await miniflare.unsafeGetDirectURL(name));
    if (!response.ok) throw new Error(`The migrations failed: ${await response.text()}`);
  }
  const ports: number[] = [];
  for (const { name } of workers) ports.push(portOf(await miniflare.unsafeGetDirectURL(name)));
  return { miniflare, ports, cronPort, stop: () => miniflare.dispose() };
}

function portOf({ port }: URL): number {
  return Number.parseInt(port, 10);
}

/** Where `wrangler --persist-to FOLDER/state` keeps the same. */
function statePath(folder: string): string {
  return join(folder, 'state', 'v3');
}

async function scriptOf(
  config: string,
  { main }: WorkerOptions,
  { folder, isReadable = false }: RuntimeOptions,
): Promise<object> {
  const script = await bundle(config, { main, folder: join(folder, 'bundle'), isReadable });
  return { modules: modulesOf(script), modulesRoot: dirname(script) };
}

/** The script first, for that is where a Worker begins, and what it imports beside it. */
function modulesOf(script: string): readonly object[] {
  const compiled = readdirSync(dirname(script)).filter((name) => name.endsWith('.wasm'));
  return [
    { type: 'ESModule', path: script },
    ...compiled.map((name) => ({ type: 'CompiledWasm', path: join(dirname(script), name) })),
  ];
}
