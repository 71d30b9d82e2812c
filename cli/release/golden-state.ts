import { git } from './checkout.ts';

/**
 * Returns the files of the golden state of a version that the commit lacks. Later releases must
 * read this state, so a release without it cannot be upgraded with proof.
 */
export function goldenStateFaults(checkout: string, version: string): readonly string[] {
  const folder = `test/states/${version}`;
  const committed = git(checkout, 'ls-tree', '--name-only', 'HEAD', `${folder}/`).split('\n');
  const changed = git(checkout, 'diff', '--name-only', 'HEAD', '--', folder).split('\n');
  return ['golden.json', 'state.tar.br'].flatMap((name) => {
    const path = `${folder}/${name}`;
    if (!committed.includes(path)) return [`${path} is not committed; make it with \`npm run state -- record\``];
    return changed.includes(path) ? [`${path} differs from the commit; restore it with \`git checkout ${path}\``] : [];
  });
}
