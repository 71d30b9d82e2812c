import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { configure, LOCAL_MONITOR } from './configuration.ts';
import type { Settings } from './configuration.ts';
import type { MonitorEndpoint } from './monitor.ts';
import type { ServeOrder, Serving } from './serve.ts';
import { pollUntil } from './poll.ts';

export interface StackOptions extends Settings {
  /**
   * The folder of all data that must survive a crash. The same folder continues where it stopped.
   */
  readonly folder: string;
  /** The port of the coordinator; a free one when absent. */
  readonly port?: number;
  /** Numbers of the co-signers that do not run, as if their machines were down. */
  readonly absent?: readonly number[];
}

/** The coordinator and three co-signers on workerd, with D1, objects and queues on this machine. */
export interface Stack {
  readonly url: string;
  readonly serviceKey: string;
  /** The endpoint and secret for reports of activity on the local chain. */
  readonly monitor: MonitorEndpoint;
  /** The log of the Workers. */
  readonly logFile: string;
  /**
   * Runs the cron trigger, which nothing else runs here.
   *
   * @param atMs the scheduled time; now when absent
   */
  readonly sweep: (atMs?: number) => Promise<void>;
  /** Ends the stack in order. */
  readonly stop: () => Promise<void>;
  /** Ends the stack like a power cut: SIGKILL to all its processes at once. */
  readonly kill: () => Promise<void>;
}

/**
 * The first start bundles and migrates and takes about 5 s on two cores, a restart 1 s. A busy
 * machine needs many times that.
 */
const START_DEADLINE_MS = 60_000;

const SERVE = join(import.meta.dirname, 'serve.ts');

/** Folders whose bundles this process built. Others may be older than the sources. */
const built = new Set<string>();

/** The tools must not call outside services, and must not write data of requests to disk. */
const QUIET = { CLOUDFLARE_CF_FETCH_ENABLED: 'false', X_LOCAL_OBSERVABILITY: 'false', FORCE_COLOR: '0' };

/** The compile cache of Node: a start costs a tenth less CPU with it. */
export const COMPILED = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'node');

/**
 * Starts the stack and returns when it responds. Throws with the end of its log when it does not
 * start.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { folder } = options;
  const { files, serviceKey, monitorSecret } = configure(folder, options);
  if (!built.has(folder)) rmSync(join(folder, 'bundle'), { recursive: true, force: true });
  built.add(folder);
  const logFile = join(folder, 'workers.log');
  const log = openSync(logFile, 'a');
  const order: ServeOrder = { files, folder, port: options.port ?? 0, absent: options.absent ?? [] };
  const child = spawn(process.execPath, [SERVE, JSON.stringify(order)], {
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...QUIET },
    stdio: ['ignore', log, log, 'ipc'],
    // Its own process group, so that a kill reaches it and workerd together.
    detached: true,
  });
  closeSync(log);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const signal = (name: NodeJS.Signals) => signalGroup(child, name);
  const abandon = () => signal('SIGKILL');
  process.once('exit', abandon);
  const end = async (name: NodeJS.Signals) => {
    process.off('exit', abandon);
    signal(name);
    await gone;
    // The leader of the group has ended. The signal ends the remaining processes.
    signal('SIGKILL');
  };
  let startedServer: Serving | null = null;
  child.once('message', (serving: Serving) => (startedServer = serving));
  const probe = async () => (startedServer !== null && (await answers(startedServer.port)) ? startedServer : null);
  const serving = await Promise.race([
    gone.then(() => 'the process exited'),
    pollUntil('answer', probe, START_DEADLINE_MS).catch(String),
  ]);
  if (typeof serving === 'string') {
    await end('SIGKILL');
    throw new Error(`The stack did not start (${serving}). End of ${logFile}:\n${endOf(logFile)}`);
  }
  const url = urlOf(serving.port);
  return {
    url,
    serviceKey,
    monitor: { url, endpointId: LOCAL_MONITOR, secret: monitorSecret },
    logFile,
    sweep: (atMs) => sweep(serving.cronPort, atMs),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function answers(port: number): Promise<boolean> {
  const response = await fetch(`${urlOf(port)}/health`).catch(() => null);
  return response?.ok === true;
}

async function sweep(port: number, atMs: number | undefined): Promise<void> {
  const time = atMs === undefined ? '' : `?time=${atMs}`;
  const response = await fetch(`${urlOf(port)}/cdn-cgi/local/scheduled${time}`);
  if (!response.ok) throw new Error(`The cron trigger returned ${response.status}`);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch (error) {
    // ESRCH: no process of the group remains.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function endOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-3000);
}
