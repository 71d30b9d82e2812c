import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { availablePort } from './port.ts';

export interface AnvilOptions {
  /** A free one when absent. */
  readonly port?: number;
  /** Seconds between blocks. When absent a block is mined with each transaction, and none without. */
  readonly blockTime?: number;
  /** File that the chain is loaded from, when it is there, and written to at the end. */
  readonly statePath?: string;
  /** 31337 when absent. */
  readonly chainId?: number;
}

export interface Anvil {
  readonly url: string;
  /** Ends it and waits until it is gone (its state is then on disk). Twice does nothing more. */
  readonly stop: () => Promise<void>;
}

/** Anvil answers 0.1 s after its start; a machine under load gets a hundred times that. */
const START_DEADLINE_MS = 10_000;
const POLL_MS = 20;

/** Starts a local EVM chain with funded, unlocked accounts, and returns when it answers. Throws when it does not start: port in use, no anvil. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const port = await availablePort(options.port ?? 0);
  const child = spawn(anvilBinary(), argumentsOf(options, port), { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<string>((resolve) => {
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (words = `${words}${chunk}`.slice(-2000)));
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`exit ${code ?? signal}: ${words.trim()}`));
  });
  // An interrupted test run or demo must not leave a chain behind.
  const abandon = () => child.kill('SIGKILL');
  process.once('exit', abandon);
  const stop = async () => {
    process.off('exit', abandon);
    if (isRunning(child)) child.kill('SIGINT');
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  const failure = await Promise.race([exited, answers(url)]);
  if (failure === null) return { url, stop };
  abandon();
  process.off('exit', abandon);
  throw new Error(`anvil did not start on port ${port}: ${failure}`);
}

/** The binary of the npm package, else `anvil` on the PATH. Throws with the way out when there is neither. */
function anvilBinary(): string {
  const searchPath: string = process.env['PATH'] ?? '';
  const modules = join(import.meta.dirname, '..', 'node_modules');
  const candidates = [
    join(
      modules,
      '@foundry-rs',
      `anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`,
      'bin',
      'anvil',
    ),
    ...searchPath.split(delimiter).map((folder) => join(folder, 'anvil')),
  ];
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    'anvil was not found. On Linux x64 it comes with `npm ci` (optional package @foundry-rs/anvil-linux-amd64); ' +
      'elsewhere install Foundry (https://getfoundry.sh) so that `anvil` is on the PATH.',
  );
}

function argumentsOf(options: AnvilOptions, port: number): readonly string[] {
  return [
    '--silent',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    ...(options.blockTime === undefined ? [] : ['--block-time', String(options.blockTime)]),
    ...(options.statePath === undefined ? [] : ['--state', options.statePath]),
    ...(options.chainId === undefined ? [] : ['--chain-id', String(options.chainId)]),
  ];
}

/** Null once the chain answers, else why it cannot be waited for any longer. */
async function answers(url: string): Promise<string | null> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'content-type': 'application/json' };
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    if (response?.ok === true) return null;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return `no answer within ${START_DEADLINE_MS} ms`;
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null && child.pid !== undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
