import { startRuntime } from './runtime.ts';

/**
 * The process of a local stack, separate from its parent, so that it can be killed like a machine.
 */

export interface ServeOrder {
  readonly files: readonly string[];
  readonly folder: string;
  /** 0 for any port. */
  readonly port: number;
  readonly absent: readonly number[];
}

/** The one message that the process sends to its parent when the stack runs. */
export interface Serving {
  readonly port: number;
  readonly cronPort: number;
}

const { files, ...options }: ServeOrder = JSON.parse(process.argv[2] ?? '');
const runtime = await startRuntime(files, options);
const serving: Serving = { port: runtime.ports[0] ?? 0, cronPort: runtime.cronPort };
process.send?.(serving);

function end(): void {
  runtime.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

process.once('SIGTERM', end);
// The parent process has ended, for whatever reason.
process.once('disconnect', end);
