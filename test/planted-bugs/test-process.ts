import { createVitest } from 'vitest/node';

/**
 * Runs the same test files repeatedly in one process, for a caller that changes files in between: a
 * new vitest process would take three times as long as most of these tests. Each message requests
 * one run, and gets one verdict.
 */

export interface Order {
  /** The files that changed since the previous request. */
  readonly changed: readonly string[];
  readonly files: readonly string[];
}

/** True if a test failed or a file could not be loaded. */
export type Verdict = 'noticed' | 'not noticed';

const CONFIG = 'test/setup/plain.vitest.config.ts';

// The files of one run share their modules, as in `npm test`: a process for each file would take
// three times as long.
const vitest = await createVitest('test', { config: CONFIG, watch: false, bail: 1, isolate: false, reporters: [{}] });
await vitest.standalone();

async function verdictOn({ changed, files }: Order): Promise<Verdict> {
  for (const file of changed) vitest.invalidateFile(file);
  const specifications = (await vitest.globTestSpecifications([...files])).filter(({ moduleId }) =>
    files.some((file) => moduleId.endsWith(file)),
  );
  if (specifications.length < files.length) throw new Error(`not all of ${files.join()} is there`);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The list of failures keeps earlier failures until their tests pass.
  const request = testModules.filter(({ moduleId }) => specifications.some((one) => one.moduleId === moduleId));
  const isGood = unhandledErrors.length === 0 && request.every((module) => module.ok());
  return isGood ? 'not noticed' : 'noticed';
}

process.on('message', (order: Order) => {
  verdictOn(order).then(
    (verdict) => process.send?.(verdict),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.('ready');
