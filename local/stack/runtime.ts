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
  /**
   * The port of each configuration, in the given order: a socket of workerd itself, without the
   * simulator in between.
   */
  readonly ports: readonly number[];
  /** The port on which `/cdn-cgi/local/scheduled` runs the first Worker's cron trigger. */
  readonly cronPort: number;
  readonly stop: () => Promise<void>;
}

type V4Options = Parameters<typeof convertV4MiniflareOptions>[0];

/**
 * On a machine with two cores V8 has one thread beside the main one. While that thread compiles and
 * waits for a garbage collection, workerd sweeps on the main thread and waits for it: a deadlock
 * (observed in one of ten runs with many signatures). A collector without threads of its own waits
 * for no other thread. The runtime of the platform differs, and so does the cost there.
 */
process.env['MINIFLARE_WORKERD_V8_FLAGS'] ??= '--single-threaded-gc';

export interface RuntimeOptions {
  /** The folder of bundles and state. */
  readonly folder: string;
  /**
   * The port of the first Worker; a free one when absent, as for all others. A port in use is an
   * error.
   */
  readonly port?: number;
  /** Positions of Workers that do not run, as if their machines were down. */
  readonly absent?: readonly number[];
  /** The port of V8's inspector of every isolate: 0 for any port, no inspector when absent. */
  readonly inspectorPort?: number;
  /** Whether functions keep their names; false when absent, as in a deployment. */
  readonly isReadable?: boolean;
}

/** The response of a service binding to a Worker that does not run. */
const ABSENT_WORKER = `export default { fetch: () => new Response('The Worker is not running.', { status: 503 }) };`;

/**
 * Starts the deployed bundles unchanged in one workerd, and migrates their databases to the newest
 * schema. `wrangler dev` costs twenty times the runtime, watches sources and puts a proxy in front
 * that drops a request when the runtime is busy for seconds.
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
        // 0: the runtime selects a port when it opens it. A port that is selected before could be
        // in use by then.
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

/** Returns the folder in which `wrangler --persist-to FOLDER/state` stores the same. */
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

/**
 * Returns the script first, because a Worker starts there, and then the modules that it imports.
 */
function modulesOf(script: string): readonly object[] {
  const compiled = readdirSync(dirname(script)).filter((name) => name.endsWith('.wasm'));
  return [
    { type: 'ESModule', path: script },
    ...compiled.map((name) => ({ type: 'CompiledWasm', path: join(dirname(script), name) })),
  ];
}
