import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadResult } from './load-process.ts';

/**
 * The server runs on the first core and the client on the second, so that neither takes CPU time of
 * the other.
 */
const CLIENT_CORE = '1';
export const SERVER_CORE = '0';

/** Controls the load generator in its own process. */
export class Load {
  readonly #process: ChildProcess;
  readonly #results: AsyncIterator<string>;

  constructor() {
    const script = fileURLToPath(new URL('load-process.ts', import.meta.url));
    const command = canPin() ? ['taskset', '-c', CLIENT_CORE, process.execPath, script] : [process.execPath, script];
    this.#process = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    const output = this.#process.stdout;
    if (output === null) throw new Error('the load generator has no output');
    this.#results = createInterface({ input: output })[Symbol.asyncIterator]();
  }

  async run(job: LoadJob): Promise<LoadResult> {
    this.#process.stdin?.write(`${JSON.stringify(job)}\n`);
    const { value, done } = await this.#results.next();
    if (done === true) throw new Error('the load generator has died');
    return JSON.parse(value) as LoadResult;
  }

  stop(): void {
    this.#process.kill();
  }
}

/** Reports whether this machine can pin a process to a core. */
export function canPin(): boolean {
  return spawnSync('taskset', ['-c', SERVER_CORE, 'true']).status === 0;
}

/** Returns one complete HTTP/1.1 request, ready to send. */
export function request(
  line: string,
  options: {
    readonly token?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): string {
  const body = options.body === undefined ? '' : JSON.stringify(options.body);
  const headers = [
    `${line} HTTP/1.1`,
    'host: localhost',
    ...(options.token === undefined ? [] : [`authorization: Bearer ${options.token}`]),
    ...(body === '' ? [] : ['content-type: application/json']),
    ...Object.entries(options.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}
