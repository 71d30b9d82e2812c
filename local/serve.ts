import { startRuntime } from './runtime.ts';

/** The process of a local stack, apart from whoever started it, so that it can be killed like a machine. */

export interface ServeOrder {
  readonly files: readonly string[];
  readonly folder: string;
  readonly port: number;
  readonly cronPort: number;
  readonly absent: readonly number[];
}

const { files, ...options }: ServeOrder = JSON.parse(process.argv[2] ?? '');
const runtime = await startRuntime(files, options);

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
// Whoever started it is gone, in whatever way.
process.once('disconnect', end);
