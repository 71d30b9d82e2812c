import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { firstExecutable, filesOnPath } from '../stack/executable.ts';

export interface AnvilOptions {
  /** A free port when absent. */
  readonly port?: number;
  /**
   * Seconds between blocks. When absent, each transaction mines a block, and no block is mined
   * without one.
   */
  readonly blockTime?: number;
  /** The file that the chain is loaded from when it exists, and written to at the end. */
  readonly statePath?: string;
  /** 31337 when absent. */
  readonly chainId?: number;
}

export interface Anvil {
  readonly url: string;
  /**
   * Ends anvil and waits for its exit (its state is then on disk). A second call does nothing more.
   */
  readonly stop: () => Promise<void>;
}

/**
 * Anvil listens 0.1 s after its start. The deadline is a hundred times that, for a machine under
 * load.
 */
const START_DEADLINE_MS = 10_000;
const STOP_DEADLINE_MS = 10_000;

/**
 * Starts a local EVM chain with funded, unlocked accounts, and returns when it responds. Throws
 * when it does not start: port in use, no anvil.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const child = spawn(anvilBinary(), argumentsOf(options), { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<string>((resolve) => {
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (words = `${words}${chunk}`.slice(-2000)));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`exit ${code ?? signal}: ${words.trim()}`));
  });
  // An interrupted test run or demo must not leave a chain behind.
  const abandon = () => child.kill('SIGKILL');
  process.once('exit', abandon);
  const end = async () => {
    process.off('exit', abandon);
    if (isRunning(child)) child.kill('SIGINT');
    // A blocked anvil (observed after a thousand concurrent transactions) reacts to no other
    // signal.
    const insist = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
    await exited;
    clearTimeout(insist);
  };
  /**
   * Anvil writes its state when it handles the signal. It handles signals from a moment after it
   * listens, so an early signal ends it without a state: one of forty immediate stops did. The
   * state is therefore read first, and written here when a signal ended the process.
   */
  const endWithState = async (url: string, statePath: string) => {
    const state = isRunning(child) ? await dumpedState(url) : null;
    await end();
    if (state !== null && child.signalCode !== null) await writeFile(statePath, state);
  };
  const [failed, late] = [exited.then((failure) => ({ failure })), new AbortController()];
  const started = await Promise.race([failed, listening(child.stdout), deadline(late.signal)]);
  late.abort();
  if (typeof started === 'string') {
    const url = started;
    return { url, stop: () => (options.statePath === undefined ? end() : endWithState(url, options.statePath)) };
  }
  abandon();
  process.off('exit', abandon);
  throw new Error(`anvil did not start: ${started.failure}`);
}

/** Returns the address that anvil reports when it listens. Later output is not needed. */
function listening(stdout: Readable): Promise<string> {
  return new Promise((resolve) => {
    let words = '';
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      words = `${words}${chunk}`;
      const address = /Listening on (127\.0\.0\.1:[0-9]+)/.exec(words)?.[1];
      if (address === undefined) return;
      stdout.removeAllListeners('data').resume();
      resolve(`http://${address}`);
    });
  });
}

/**
 * Returns the state as anvil's own state file holds it. Null when anvil does not respond: it is
 * ending by itself, and then it writes the file.
 */
async function dumpedState(url: string): Promise<Buffer | null> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] });
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(STOP_DEADLINE_MS);
  const response = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => null);
  const answer: { readonly result?: string } = JSON.parse((await response?.text().catch(() => null)) ?? '{}');
  return answer.result === undefined ? null : gunzipSync(Buffer.from(answer.result.slice(2), 'hex'));
}

async function deadline(signal: AbortSignal): Promise<{ readonly failure: string }> {
  await pause(START_DEADLINE_MS, undefined, { signal }).catch(() => null);
  return { failure: `no output within ${START_DEADLINE_MS} ms` };
}

/**
 * Returns the binary of the npm package, else `anvil` on the PATH. Throws with instructions when
 * there is neither.
 */
function anvilBinary(): string {
  const modules = join(import.meta.dirname, '..', '..', 'node_modules');
  const candidates = [
    join(
      modules,
      '@foundry-rs',
      `anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
      'bin',
      'anvil',
    ),
    ...filesOnPath('anvil'),
  ];
  const found = firstExecutable(candidates);
  if (found !== null) return found;
  throw new Error(
    'anvil was not found. On Linux x64 it comes with `npm ci` (optional package @foundry-rs/anvil-linux-amd64); ' +
      'elsewhere install Foundry (https://getfoundry.sh) so that `anvil` is on the PATH.',
  );
}

function argumentsOf(options: AnvilOptions): readonly string[] {
  return [
    '--host',
    '127.0.0.1',
    // 0: anvil selects the port when it opens it. A port that is selected before could be in use by
    // then.
    '--port',
    String(options.port ?? 0),
    ...(options.blockTime === undefined ? [] : ['--block-time', String(options.blockTime)]),
    ...(options.statePath === undefined ? [] : ['--state', options.statePath]),
    ...(options.chainId === undefined ? [] : ['--chain-id', String(options.chainId)]),
  ];
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null && child.pid !== undefined;
}
