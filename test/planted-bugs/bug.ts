/** A bug that another project has had, or that is possible here, with the change that plants it. */
export interface Bug {
  readonly name: string;
  readonly file: string;
  /** The text to replace. It occurs exactly once in the file. */
  readonly was: string;
  readonly is: string;
  /** The tests that have to fail: test files, the simulation, or the adversary games. */
  readonly caughtBy: readonly string[] | 'simulation' | 'adversary';
}

export const SIM = 'simulation';
export const ADVERSARY = 'adversary';
export const domain = (name: string) => [`test/domain/${name}.test.ts`];
export const evm = (name: string) => [`test/chains/evm/${name}.test.ts`];
