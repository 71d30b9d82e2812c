/** A bug that another project has had, or that is possible here, planted in one place. */
export interface Bug {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly was: string;
  readonly is: string;
  /** What has to fail: test files, the simulation, or the games of random attackers. */
  readonly caughtBy: readonly string[] | 'simulation' | 'adversary';
}

export const SIM = 'simulation';
export const ADVERSARY = 'adversary';
export const domain = (name: string) => [`test/domain/${name}.test.ts`];
export const evm = (name: string) => [`test/chains/evm/${name}.test.ts`];
